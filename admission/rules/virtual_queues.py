"""Elastic quotas as the quota tree knows them: a leaf is a ClusterQueue, a parent a Cohort, of the same name.

`min` is nominal quota (of a parent: what its children's minimums leave of it), `max` bounds borrowing, and runtime does
where more is asked for than `min`. Nobody keeps these queues anywhere but here. Pods that no Workload stands for use
the leaf's own quota up first: what is left of it may be less than nothing, and is then missing from its cohort.
"""

from collections.abc import Mapping
from fractions import Fraction

from admission.model.elastic_quota import NO_UNITS, ROOT, ElasticQuota, Units
from admission.model.queues import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    LocalQueue,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
)
from admission.model.selectors import Selector
from admission.rules.elastic_quotas import Demand, Family, Standing, total_of

FLAVOR = "elastic-quota"
NOBODY: Mapping[str, Units] = {}
Virtual = ClusterQueue | Cohort | LocalQueue | ResourceFlavor

# A minimum is a promise: what others have borrowed of it is taken back, and inside a quota the higher priority goes
# first, as Koordinator's scheduler has it.
_PREEMPTION = Preemption("LowerPriority", "Any")
_EVERYBODY = Selector(())


def flavor_of(tree: str) -> str:
    """A ResourceFlavor of this name may say which nodes a tree has; else pods may go wherever they fit."""
    return f"{FLAVOR}-{tree}" if tree else FLAVOR


def virtual_queues(
    family: Family,
    standings: Mapping[str, Standing],
    demand: Mapping[str, Demand],
    capacity: Units,
    eased: Mapping[str, Units] = NOBODY,
) -> list[Virtual]:
    """In the order in which they should appear: flavors and cohorts first. `eased`: use that leaves may come to though
    their runtime is less."""
    flavors: dict[str, Virtual] = {}
    cohorts: list[Virtual] = []
    queues: list[Virtual] = []
    if ROOT in family.heads:
        cohorts.append(Cohort(ROOT, groups=_groups(_remainder(family, ROOT, capacity), ""), virtual=True))
    for name, quota in family.quotas.items():
        flavor = flavor_of(quota.tree)
        flavors[flavor] = ResourceFlavor(flavor, virtual=True)
        weight = Fraction(_heaviest(quota))
        if family.inner(name):
            cohorts.append(Cohort(name, "", 0, quota.parent, _parent(family, quota), 1, weight, virtual=True))
            continue
        groups = _leaf(quota, standings[name], demand.get(name, Demand()), eased.get(name, NO_UNITS))
        queues.append(
            ClusterQueue(
                name, quota.uid, created=quota.created, cohort=quota.parent, groups=groups, weight=weight,
                namespace_selector=_EVERYBODY, preemption=_PREEMPTION, virtual=True,
                stop_policy="Hold" if quota.deleting else "None",
            )
        )  # fmt: skip
        homes = dict.fromkeys((quota.namespace, *quota.namespaces))
        queues += [LocalQueue(home, name, name, virtual=True) for home in homes]
    return [*flavors.values(), *cohorts, *queues]


def _leaf(quota: ElasticQuota, standing: Standing, demand: Demand, eased: Units) -> tuple[ResourceGroup, ...]:
    quotas = {}
    for resource, most in quota.max.items():
        least, may_use = quota.min.get(resource, 0), standing.runtime[resource]
        asked = standing.limit_request[resource]
        if may_use < min(asked, least):  # there is not enough for all minimums
            least, top = may_use, may_use
        else:
            top = may_use if asked > least else most
        top = max(top, eased.get(resource, 0))
        own = least - demand.placed.get(resource, 0)
        quotas[resource] = Quota(own, max(0, top - least), None if quota.lends else 0)
    return _groups(quotas, quota.tree)


def _parent(family: Family, quota: ElasticQuota) -> tuple[ResourceGroup, ...]:
    if not quota.parent:
        return _groups(_remainder(family, quota.name, total_of(quota)), quota.tree)
    own = _remainder(family, quota.name, quota.min)
    quotas = {}
    for resource, most in quota.max.items():
        borrowed = max(0, most - quota.min.get(resource, 0))
        quotas[resource] = Quota(own.get(resource, Quota(0)).nominal, borrowed, None if quota.lends else 0)
    return _groups(quotas, quota.tree)


def _remainder(family: Family, parent: str, whole: Units) -> dict[str, Quota]:
    """What the children's minimums leave of it."""
    children = [family.quotas[name] for name in family.children.get(parent, ())]
    least = {resource: sum(child.min.get(resource, 0) for child in children) for resource in whole}
    return {resource: Quota(max(0, units - least[resource])) for resource, units in whole.items()}


def _groups(quotas: Mapping[str, Quota], tree: str) -> tuple[ResourceGroup, ...]:
    if not quotas:
        return ()
    return (ResourceGroup(tuple(quotas), (FlavorQuotas(flavor_of(tree), dict(quotas)),)),)


def _heaviest(quota: ElasticQuota) -> int:
    """Kueue knows one weight for all resources: that of cpu counts, else that of the first by name."""
    weights = quota.weight or NO_UNITS
    return weights.get("cpu", weights[min(weights)] if weights else 1)
