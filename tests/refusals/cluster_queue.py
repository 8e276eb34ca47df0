"""ClusterQueue: its spec."""

from tests.refusals.objects import DECODED, FILLED, LONG_NAME, NO_NAME, NOT_A_NAME, QUEUE, group, names, of, quota
from tests.refusals.row import ABSENT, Row, create, put, update

GROUPS = "spec.resourceGroups"
GROUP = f"{GROUPS}[0]"
QUOTA = f"{GROUP}.flavors[0].resources[0]"
CHECKS = "spec.admissionChecksStrategy.admissionChecks"
SELECTOR = "spec.namespaceSelector"
POLICY = "spec.concurrentAdmissionPolicy"
NEGATIVE = "must be greater than or equal to 0"
BARE = of("ClusterQueue", {})
CHECKED = put(QUEUE, {CHECKS: [{"name": "budget", "onFlavors": ["spot"]}]})
WRONGLY_CHECKED = put(QUEUE, {CHECKS: [{"name": "budget", "onFlavors": ["gone"]}]})
SELECTIVE = put(QUEUE, {f"{SELECTOR}.matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]})
CONCURRENT = put(QUEUE, {f"{POLICY}.migration": {"mode": "TryPreferredFlavors"}})


def groups(count: int, resources: int = 1, flavors: int = 1) -> list[object]:
    """Distinct ones."""
    return [group(names(resources, f"r{at}-"), names(flavors, f"f{at}-")) for at in range(count)]


def _spec() -> list[Row]:
    return [
        create("at most 16 groups", BARE, GROUPS, groups(16), groups(17), "must have at most 16 items"),
        create("the cohort's name is a subdomain", QUEUE, "spec.cohortName", "a.b-c", NO_NAME, NOT_A_NAME),
        create("the cohort's name has at most 253 characters", QUEUE, "spec.cohortName", "n" * 253, LONG_NAME,
               "Too long: may not be more than 253 bytes"),
        create("queueing strategies", QUEUE, "spec.queueingStrategy", "StrictFIFO", "Random",
               'Unsupported value: "Random": supported values: '),
        create("stop policies", QUEUE, "spec.stopPolicy", "HoldAndDrain", "Now", 'Unsupported value: "Now"'),
        create("the weight is a quantity", QUEUE, "spec.fairSharing.weight", "1500m", "heavy", NOT_A_NAME,
               kueue=DECODED),
        create("the weight is not negative", QUEUE, "spec.fairSharing.weight", "0", "-1",
               f'Invalid value: "-1": {NEGATIVE}', "spec.fairSharing", "webhook"),
        create("the weight does not vanish", QUEUE, "spec.fairSharing.weight", "2n", "1n",
               'Invalid value: "1n": When not 0, weight must be > 10e-9', "spec.fairSharing", "webhook"),
        create("an admission scope has a mode", QUEUE, "spec.admissionScope",
               {"admissionMode": "NoAdmissionFairSharing"}, {}, "Required value", "spec.admissionScope.admissionMode"),
        create("admission modes", QUEUE, "spec.admissionScope.admissionMode", "UsageBasedAdmissionFairSharing", "Fair",
               'Unsupported value: "Fair"'),
    ]  # fmt: skip


def _quotas() -> list[Row]:
    covered, flavors, resources = f"{GROUP}.coveredResources", f"{GROUP}.flavors", f"{GROUP}.flavors[0].resources"
    two = put(QUEUE, {GROUPS: [group(("cpu", "memory"))]})
    many = put(QUEUE, {GROUPS: [group(names(64, "r"))]})
    quotas = [quota(name) for name in names(65, "r")]
    return [
        create("a group covers a resource", QUEUE, covered, ["cpu"], [], "should have at least 1 items"),
        create("a group covers at most 64 resources", many, covered, list(names(64, "r")), list(names(65, "r")),
               "must have at most 64 items"),
        create("a group has a flavor", QUEUE, flavors, group()["flavors"], [], "should have at least 1 items"),
        create("a group has at most 64 flavors", QUEUE, flavors, group(flavors=names(64))["flavors"],
               group(flavors=names(65))["flavors"], "must have at most 64 items"),
        create("flavors of a group differ", QUEUE, flavors, group(flavors=("spot", "other"))["flavors"],
               group(flavors=("spot", "spot"))["flavors"], 'Duplicate value: {"name":"spot"}', f"{flavors}[1]"),
        create("a flavor has a name", QUEUE, f"{flavors}[0].name", "a", ABSENT, "Required value", kueue=FILLED),
        create("a flavor's name is a subdomain", QUEUE, f"{flavors}[0].name", "a.b", NO_NAME, NOT_A_NAME),
        create("a flavor's name has at most 253 characters", QUEUE, f"{flavors}[0].name", "n" * 253, LONG_NAME,
               "Too long: may not be more than 253 bytes"),
        create("a flavor has quotas", QUEUE, resources, [quota()], [], "should have at least 1 items"),
        create("a flavor has at most 64 quotas", many, resources, quotas[:64], quotas, "must have at most 64 items"),
        create("a flavor has one quota for each resource", two, resources, [quota(), quota("memory")],
               [quota(), quota()], 'Duplicate value: {"name":"cpu"}', f"{resources}[1]"),
        create("a flavor has as many quotas as resources", two, resources, [quota(), quota("memory")], [quota()],
               "flavors must have the same number of resources as the coveredResources", GROUP),
        create("quotas are in the order of the resources", two, resources, [quota(), quota("memory")],
               [quota(), quota("disk")], 'Invalid value: "disk": must match the name in coveredResources',
               f"{resources}[1].name", "webhook"),
        create("a quota has an amount", QUEUE, f"{QUOTA}.nominalQuota", 8, ABSENT, "Required value",
               kueue="accepts: its mutating webhook writes the missing amount as 0; on an update it refuses"),
        *(
            row
            for field in ("nominalQuota", "borrowingLimit", "lendingLimit")
            for row in (
                create(f"{field} is a quantity", QUEUE, f"{QUOTA}.{field}", "1500m", "1 Ki", NOT_A_NAME,
                       kueue=DECODED),
                create(f"{field} is a number or text", QUEUE, f"{QUOTA}.{field}", 0, True,
                       "must be of type integer,string", kueue=DECODED),
                create(f"{field} is not negative", QUEUE, f"{QUOTA}.{field}", "0" if field != "nominalQuota" else "8",
                       "-1", f'Invalid value: "-1": {NEGATIVE}', by="webhook"),
            )
        ),
        create("borrowing needs a cohort", QUEUE, "spec",
               {"cohortName": "all", "resourceGroups": [_limited("borrowing")]},
               {"resourceGroups": [_limited("borrowing")]}, "borrowingLimit must be nil when cohort is empty"),
        create("lending needs a cohort", QUEUE, "spec",
               {"cohortName": "all", "resourceGroups": [_limited("lending")]},
               {"resourceGroups": [_limited("lending")]}, 'Invalid value: "1": must be nil when cohort is empty',
               f"{QUOTA}.lendingLimit", "webhook"),
        create("a queue lends no more than it owns", QUEUE, f"{QUOTA}.lendingLimit", "8000m", "8001m",
               'Invalid value: "8001m": must be less than or equal to the nominalQuota', by="webhook"),
    ]  # fmt: skip


def _limited(what: str) -> object:
    return {"coveredResources": ["cpu"], "flavors": [{"name": "spot", "resources": [quota(**{f"{what}Limit": "1"})]}]}


def _across_groups() -> list[Row]:
    return [
        create("a resource is a label key", BARE, GROUPS, [group(("example.com/gpu",))], [group(("@gpu",))],
               'Invalid value: "@gpu": name part must consist of alphanumeric characters',
               f"{GROUP}.coveredResources[0]", "webhook"),
        create("a resource is in one group", BARE, GROUPS, [group(), group(("memory",), ("b",))],
               [group(), group(("cpu",), ("b",))], 'Duplicate value: "cpu"', f"{GROUPS}[1].coveredResources[0]",
               "webhook"),
        create("a flavor is in one group", BARE, GROUPS, [group(), group(("memory",), ("b",))],
               [group(), group(("memory",))], 'Duplicate value: "spot"', f"{GROUPS}[1].flavors[0].name", "webhook"),
        create("at most 256 flavors together", BARE, GROUPS, groups(4, 1, 64), groups(5, 1, 52),
               "Invalid value: 260: total number of flavors across all resourceGroups must be ≤ 256, got 260",
               by="webhook"),
        create("at most 256 resources together", BARE, GROUPS, groups(4, 64), groups(5, 52),
               "Invalid value: 260: total number of covered resources across all resourceGroups must be ≤ 256, got 260",
               by="webhook"),
        create("at most 512 combinations in a group", BARE, GROUPS, groups(1, 64, 8), groups(1, 64, 9),
               "Invalid value: 576: number of flavor-resource combinations in a resourceGroup must be ≤ 512, got 576",
               GROUP, "webhook"),
    ]  # fmt: skip


def _order() -> list[Row]:
    fungibility, preemption = "spec.flavorFungibility", "spec.preemption"
    searching = {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}
    preferring = {"preference": "BorrowingOverPreemption"}
    borrowing = {"borrowWithinCohort": {"policy": "LowerPriority"}}
    reclaiming = {"reclaimWithinCohort": "Any", **borrowing}
    limited = put(QUEUE, {preemption: reclaiming})
    threshold = f"{preemption}.borrowWithinCohort.maxPriorityThreshold"
    return [
        create("whether to borrow at once", QUEUE, f"{fungibility}.whenCanBorrow", "TryNextFlavor", "Borrow",
               'Unsupported value: "Borrow"'),
        create("whether to preempt at once", QUEUE, f"{fungibility}.whenCanPreempt", "MayStopSearch", "Preempt",
               'Unsupported value: "Preempt"'),
        create("preferences", QUEUE, fungibility, {**searching, **preferring}, {**searching, "preference": "Cheap"},
               'Unsupported value: "Cheap"', f"{fungibility}.preference"),
        create("a preference needs a whole search", QUEUE, fungibility, {**searching, **preferring}, preferring,
               "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor"),
        create("whose quota is reclaimed", QUEUE, f"{preemption}.reclaimWithinCohort", "LowerPriority", "Newer",
               'Unsupported value: "Newer"'),
        create("who is preempted in the queue", QUEUE, f"{preemption}.withinClusterQueue", "LowerOrNewerEqualPriority",
               "Any", 'Unsupported value: "Any"'),
        create("who is preempted by borrowers", QUEUE, preemption, reclaiming,
               {**reclaiming, "borrowWithinCohort": {"policy": "Any"}}, 'Unsupported value: "Any"',
               f"{preemption}.borrowWithinCohort.policy"),
        create("borrowers preempt only where quota is reclaimed", QUEUE, preemption, reclaiming, borrowing,
               "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"),
        create("a priority threshold is a number", limited, threshold, -5, "low", "must be of type integer",
               kueue=DECODED),
        create("a priority threshold has 32 bits", limited, threshold, 2**31 - 1, 2**31,
               "should be less than or equal to 2147483647",
               kueue=DECODED),
    ]  # fmt: skip


def _checks() -> list[Row]:
    on_flavors = f"{CHECKS}[0].onFlavors"
    checks = [{"name": name} for name in names(65)]
    flavors = put(QUEUE, {GROUPS: groups(1, 1, 64), CHECKS: [{"name": "budget"}]})
    known = list(names(64, "f0-"))
    return [
        create("a strategy has checks", QUEUE, CHECKS, checks[:1], [], "should have at least 1 items"),
        create("at most 64 checks", QUEUE, CHECKS, checks[:64], checks, "must have at most 64 items"),
        create("a check has a name", CHECKED, f"{CHECKS}[0].name", "Any Name!", "", "should be at least 1 chars long"),
        create("a check's name has at most 316 characters", CHECKED, f"{CHECKS}[0].name", "n" * 316, "n" * 317,
               "Too long: may not be more than 316 bytes"),
        create("checks differ", QUEUE, CHECKS, checks[:2], [checks[0]] * 2, 'Duplicate value: {"name":"n0"}',
               f"{CHECKS}[1]"),
        create("a check is on at most 64 flavors", flavors, on_flavors, known, [*known, "f1-0"],
               "must have at most 64 items"),
        create("a check is on different flavors", CHECKED, on_flavors, ["spot"], ["spot", "spot"],
               'Duplicate value: "spot"', f"{on_flavors}[1]"),
        create("a check's flavor is a subdomain", CHECKED, on_flavors, ["spot"], [NO_NAME], NOT_A_NAME,
               f"{on_flavors}[0]"),
        create("a check is on flavors of the queue", CHECKED, on_flavors, [], ["spot", "other"],
               'Unsupported value: "other": supported values: "spot"', f"{on_flavors}[1]", "webhook"),
        update("a new mistake about flavors is refused", CHECKED, on_flavors, [], ["other"],
               'Unsupported value: "other"', f"{on_flavors}[0]", "webhook"),
        update("an old mistake about flavors may stay until it is touched", WRONGLY_CHECKED, "spec",
               {**WRONGLY_CHECKED["spec"], "stopPolicy": "Hold"},
               put(WRONGLY_CHECKED, {on_flavors: ["gone", "spot"]})["spec"], 'Unsupported value: "gone"',
               f"{on_flavors}[0]", "webhook", legacy=True),
        update("an old mistake about flavors may stay while the flavors do", WRONGLY_CHECKED, "spec",
               {**WRONGLY_CHECKED["spec"], "queueingStrategy": "StrictFIFO"},
               {**WRONGLY_CHECKED["spec"], "resourceGroups": [group(flavors=("spot", "new"))]},
               'Unsupported value: "gone"', f"{on_flavors}[0]", "webhook", legacy=True),
    ]  # fmt: skip


def _selector() -> list[Row]:
    rule = f"{SELECTOR}.matchExpressions[0]"
    return [
        create("a selector's label is a label key", QUEUE, SELECTOR, {"matchLabels": {"a.b/c": "d"}},
               {"matchLabels": {"a b": "d"}}, "name part must consist of alphanumeric", f"{SELECTOR}.matchLabels",
               "webhook"),
        create("a selector's value is a label value", QUEUE, SELECTOR, {"matchLabels": {"a": ""}},
               {"matchLabels": {"a": "b c"}}, "a valid label must be an empty string or consist of alphanumeric",
               f"{SELECTOR}.matchLabels", "webhook"),
        create("a selector's key is a label key", SELECTIVE, f"{rule}.key", "a.b/c", "a b",
               "name part must consist of alphanumeric", by="webhook"),
        create("a selector's operator is known", SELECTIVE, f"{rule}.operator", "NotIn", "Like",
               'Invalid value: "Like": not a valid selector operator', by="webhook"),
        create("In needs values", SELECTIVE, f"{rule}.values", ["a", "b"], [],
               "Required value: must be specified when `operator` is 'In' or 'NotIn'", by="webhook"),
        create("Exists needs none", SELECTIVE, rule, {"key": "a", "operator": "Exists"},
               {"key": "a", "operator": "Exists", "values": ["b"]},
               "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'", f"{rule}.values",
               "webhook"),
        create("a selector's values are label values", SELECTIVE, f"{rule}.values", ["a"], ["a", "b c"],
               "a valid label must be an empty string or consist of alphanumeric", f"{rule}.values[1]", "webhook"),
        create("a selector's rule has a key", SELECTIVE, rule, {"key": "a", "operator": "Exists"},
               {"operator": "Exists"}, "Required value", f"{rule}.key", kueue=FILLED),
    ]  # fmt: skip


def _concurrent() -> list[Row]:
    return [
        create("a concurrent admission says how to migrate", QUEUE, POLICY,
               {"migration": {"mode": "RetainFirstAdmission"}}, {}, "Required value", f"{POLICY}.migration"),
        create("ways to migrate", CONCURRENT, f"{POLICY}.migration.mode", "RetainFirstAdmission", "Never",
               'Unsupported value: "Never"'),
        create("a migration has a mode", CONCURRENT, f"{POLICY}.migration.mode", "TryPreferredFlavors", ABSENT,
               "Required value"),
        create("the last acceptable flavor is a subdomain", CONCURRENT,
               f"{POLICY}.migration.constraints.lastAcceptableFlavorName", "spot", NO_NAME, NOT_A_NAME),
        update("a concurrent admission does not change", CONCURRENT, "spec",
               {**CONCURRENT["spec"], "stopPolicy": "Hold"}, QUEUE["spec"], "field is immutable", POLICY, "webhook"),
    ]  # fmt: skip


ROWS = [*_spec(), *_quotas(), *_across_groups(), *_order(), *_checks(), *_selector(), *_concurrent()]
