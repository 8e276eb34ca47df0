"""Cohort: the rules of quotas again, where they differ from a ClusterQueue's or are asked by code of its own."""

from tests.refusals.cluster_queue import GROUP, GROUPS, NEGATIVE, QUOTA, groups
from tests.refusals.objects import COHORT, LONG_NAME, NO_NAME, NOT_A_NAME, group, of, quota
from tests.refusals.row import create, put

ROOT = of("Cohort", {"resourceGroups": [group()]})
TWO = put(COHORT, {GROUPS: [group(("cpu", "memory"))]})
RESOURCES = f"{GROUP}.flavors[0].resources"

ROWS = [
    create("the parent's name is a subdomain", COHORT, "spec.parentName", "a.b", NO_NAME, NOT_A_NAME),
    create("the parent's name has at most 253 characters", COHORT, "spec.parentName", "n" * 253, LONG_NAME,
           "Too long: may not be more than 253 bytes"),
    create("at most 16 groups", COHORT, GROUPS, groups(16), groups(17), "must have at most 16 items"),
    create("a flavor has as many quotas as resources", TWO, RESOURCES, [quota(), quota("memory")], [quota()],
           "flavors must have the same number of resources as the coveredResources", GROUP),
    create("quotas are of the covered resources", COHORT, f"{QUOTA}.name", "cpu", "disk",
           'Invalid value: "disk": must match the name in coveredResources', by="webhook"),
    create("a resource is a label key", COHORT, GROUPS, [group(("a.b/c",))], [group(("a b",))],
           "name part must consist of alphanumeric", f"{GROUP}.coveredResources[0]", "webhook"),
    create("a resource is in one group", COHORT, GROUPS, [group(), group(("memory",), ("b",))],
           [group(), group(("cpu",), ("b",))], 'Duplicate value: "cpu"', f"{GROUPS}[1].coveredResources[0]", "webhook"),
    create("a flavor is in one group", COHORT, GROUPS, [group(), group(("memory",), ("b",))],
           [group(), group(("memory",))], 'Duplicate value: "spot"', f"{GROUPS}[1].flavors[0].name", "webhook"),
    create("a quota is not negative", COHORT, f"{QUOTA}.nominalQuota", 0, "-1", f'Invalid value: "-1": {NEGATIVE}',
           by="webhook"),
    create("a borrowing limit is not negative", COHORT, f"{QUOTA}.borrowingLimit", 0, "-1", NEGATIVE, by="webhook"),
    create("a lending limit is not negative and may exceed the quota", COHORT, f"{QUOTA}.lendingLimit", "99", "-1",
           NEGATIVE, by="webhook"),
    create("borrowing needs a parent", ROOT, "spec", put(COHORT, {f"{QUOTA}.borrowingLimit": "1"})["spec"],
           put(ROOT, {f"{QUOTA}.borrowingLimit": "1"})["spec"], 'Invalid value: "1": must be nil when parent is empty',
           f"{QUOTA}.borrowingLimit", "webhook"),
    create("lending needs a parent", ROOT, "spec", put(COHORT, {f"{QUOTA}.lendingLimit": "1"})["spec"],
           put(ROOT, {f"{QUOTA}.lendingLimit": "1"})["spec"], 'Invalid value: "1": must be nil when parent is empty',
           f"{QUOTA}.lendingLimit", "webhook"),
    create("the weight is a quantity", COHORT, "spec.fairSharing.weight", 3, "heavy", NOT_A_NAME),
    create("the weight is not negative", COHORT, "spec.fairSharing.weight", 0, "-1",
           f'Invalid value: "-1": {NEGATIVE}', "spec.fairSharing", "webhook"),
    create("the weight does not vanish", COHORT, "spec.fairSharing.weight", "2n", "1n",
           "When not 0, weight must be > 10e-9", "spec.fairSharing", "webhook"),
    create("a share is stated", COHORT, "status.fairSharing", {"weightedShare": 7}, {}, "Required value",
           "status.fairSharing.weightedShare"),
]  # fmt: skip
