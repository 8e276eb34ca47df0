"""What a ClusterQueue must not say, beyond its schema."""

import msgspec

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, invalid, unsupported
from admission.model.gates import DEFAULTS, Gates
from admission.validation.quotas import FairSharing, Group, Rules, check_groups, check_totals, check_weight
from admission.validation.syntax import IMMUTABLE, labels, selector_rule


class _Expression(msgspec.Struct):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class _Selector(msgspec.Struct, rename="camel"):
    match_labels: dict[str, str] | None = None
    match_expressions: list[_Expression] | None = None


class _BorrowWithinCohort(msgspec.Struct):
    policy: str = "Never"


class _Preemption(msgspec.Struct, rename="camel"):
    reclaim_within_cohort: str = "Never"
    borrow_within_cohort: _BorrowWithinCohort | None = None


class _Fungibility(msgspec.Struct, rename="camel"):
    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str | None = None


class _CheckRule(msgspec.Struct, rename="camel"):
    name: str = ""
    on_flavors: list[str] | None = None


class _CheckStrategy(msgspec.Struct, rename="camel"):
    admission_checks: list[_CheckRule] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    resource_groups: list[Group] | None = None
    cohort_name: str = ""
    namespace_selector: _Selector | None = None
    preemption: _Preemption | None = None
    flavor_fungibility: _Fungibility | None = None
    fair_sharing: FairSharing | None = None
    admission_checks_strategy: _CheckStrategy | None = None
    concurrent_admission_policy: object = None

    @property
    def flavors(self) -> list[str]:
        return [flavor.name for group in self.resource_groups or () for flavor in group.flavors]

    @property
    def checks(self) -> list[_CheckRule]:
        strategy = self.admission_checks_strategy
        return (strategy.admission_checks or []) if strategy else []


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _ClusterQueue(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)


def check_cluster_queue(document: Document, before: Document | None, gates: Gates = DEFAULTS) -> list[FieldError]:
    """All that is wrong with it, in the order of its fields. Raises Unreadable."""
    queue = view(document, _ClusterQueue)
    if queue.metadata.deletion_timestamp is not None:  # its finalizer must be able to go
        return []
    spec = queue.spec
    old = view(before, _ClusterQueue).spec if before is not None else None
    groups = spec.resource_groups or []
    path = "spec.resourceGroups"
    return [
        *check_groups(path, groups, Rules("cohort", bool(spec.cohort_name), lending_within_nominal=True)),
        *_selector("spec.namespaceSelector", spec.namespace_selector),
        *_preemption("spec.preemption", spec.preemption),
        *_fungibility("spec.flavorFungibility", spec.flavor_fungibility),
        *check_weight("spec.fairSharing", spec.fair_sharing),
        *check_totals(path, groups),
        *_on_flavors(
            "spec.admissionChecksStrategy.admissionChecks",
            spec,
            None if gates["RejectUpdatesToCQWithInvalidOnFlavors"] else old,
        ),
        *_immutable(spec, old),
    ]


def _selector(path: str, selector: _Selector | None) -> list[FieldError]:
    if selector is None:
        return []
    errors = labels(f"{path}.matchLabels", selector.match_labels)
    for at, rule in enumerate(selector.match_expressions or ()):
        errors += selector_rule(f"{path}.matchExpressions[{at}]", rule.key, rule.operator, rule.values or ())
    return errors


def _preemption(path: str, preemption: _Preemption | None) -> list[FieldError]:
    """Preempting in order to borrow is a kind of reclaiming; without the one the other says nothing."""
    if preemption is None or preemption.borrow_within_cohort is None:
        return []
    borrow = preemption.borrow_within_cohort.policy
    if preemption.reclaim_within_cohort != "Never" or borrow == "Never":
        return []
    said = {"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": borrow}}
    return [invalid(path, said, "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never")]


def _fungibility(path: str, fungibility: _Fungibility | None) -> list[FieldError]:
    if fungibility is None or fungibility.preference is None:
        return []
    if fungibility.when_can_borrow == fungibility.when_can_preempt == "TryNextFlavor":
        return []
    needs = "requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor"
    preference = fungibility.preference
    return [invalid(f"{path}.preference", preference, f'preference "{preference}" {needs}')]


def _on_flavors(path: str, spec: _Spec, old: _Spec | None) -> list[FieldError]:
    """A check on a flavor that the queue lacks would silently never run.

    Queues that were already wrong can still be edited elsewhere: compared with `old`, an untouched check passes while
    the flavors stay.
    """
    flavors = spec.flavors
    untouched: dict[str, set[str]] = {}
    if old is not None and set(old.flavors) == set(flavors):
        untouched = {rule.name: set(rule.on_flavors or ()) for rule in old.checks}
    errors = []
    for at, rule in enumerate(spec.checks):
        named = rule.on_flavors or []
        if untouched.get(rule.name) == set(named):
            continue
        for index, flavor in enumerate(named):
            if flavor not in flavors:
                errors.append(unsupported(f"{path}[{at}].onFlavors[{index}]", flavor, tuple(flavors)))
    return errors


def _immutable(spec: _Spec, old: _Spec | None) -> list[FieldError]:
    if old is None or old.concurrent_admission_policy == spec.concurrent_admission_policy:
        return []
    return [invalid("spec.concurrentAdmissionPolicy", spec.concurrent_admission_policy, IMMUTABLE)]
