"""What stands in the books of elastic quotas: who is asked for how much, who uses it, and what each may use just now.

Facts: Koordinator 1.7. Requests go up the tree, capped by `max` at every level; runtime comes down, level by level.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from admission.model.elastic_quota import DEFAULT, NO_UNITS, ROOT, SYSTEM, ElasticQuota, Units
from admission.tree.water_filling import Child, runtime, scaled


@dataclass(slots=True)
class Demand:
    """What is known of one leaf from outside. `asked`: of all who wait and run; `placed`: of pods that hold a node and
    belong to no Workload of the leaf, `unplaced`: of those that wait for one; `reserved`: of its Workloads."""

    asked: dict[str, int] = field(default_factory=dict)
    placed: dict[str, int] = field(default_factory=dict)
    unplaced: dict[str, int] = field(default_factory=dict)
    reserved: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Standing:
    """One quota; only resources that its `max` names."""

    child_request: dict[str, int] = field(default_factory=dict)
    request: dict[str, int] = field(default_factory=dict)
    limit_request: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    runtime: dict[str, int] = field(default_factory=dict)


class Family:
    """Who hangs below whom. What nobody heads, because a parent is missing or a ring of parents leads nowhere, stands
    for itself."""

    def __init__(self, quotas: Mapping[str, ElasticQuota]) -> None:
        self.quotas = {name: quota for name, quota in sorted(quotas.items()) if name not in (SYSTEM, DEFAULT, ROOT)}
        self.children: dict[str, list[str]] = {}
        for name, quota in self.quotas.items():
            if quota.parent:
                self.children.setdefault(quota.parent, []).append(name)
        # Heads of trees that are no quotas themselves: the root that is built in, and parents that are missing.
        self.heads = [name for name in self.children if name not in self.quotas]
        roots = [*self.heads, *(name for name, quota in self.quotas.items() if not quota.parent)]
        self.downwards = self._below(roots)
        self.astray = [name for name in self.quotas if name not in set(self.downwards)]

    def inner(self, name: str) -> bool:
        """Whether it is a parent, and no queue."""
        return self.quotas[name].is_parent or name in self.children

    def _below(self, roots: Iterable[str]) -> list[str]:
        """Parents before children."""
        order = list(roots)
        for name in order:
            order += self.children.get(name, ())
        return order


def standings(family: Family, demand: Mapping[str, Demand], capacity: Units) -> dict[str, Standing]:
    """By name. `capacity`: what the default tree has; of a resource that is missing there nobody knows, and only the
    minimums are shared."""
    found = {name: Standing() for name in family.quotas}
    for name in family.astray:
        _ask(family.quotas[name], found[name], [demand.get(name, Demand())])
        found[name].runtime = dict(found[name].limit_request)
    for name in reversed(family.downwards):
        if name in found:
            below = [_passed_on(found[child]) for child in family.children.get(name, ())]
            _ask(family.quotas[name], found[name], below or [demand.get(name, Demand())])
    for name in family.downwards:
        quota = family.quotas.get(name)
        if quota is not None and not quota.parent:
            found[name].runtime = total_of(quota)
        known = found[name].runtime if quota is not None else capacity if name == ROOT else NO_UNITS
        _share(family, name, found, known)
    return found


def total_of(root: ElasticQuota) -> dict[str, int]:
    """What the tree below such a root has."""
    return {**root.min, **(root.total or NO_UNITS)}


def _passed_on(child: Standing) -> Demand:
    return Demand(child.limit_request, reserved=child.used)


def _ask(quota: ElasticQuota, standing: Standing, below: list[Demand]) -> None:
    for resource, most in quota.max.items():
        asked = sum(one.asked.get(resource, 0) for one in below)
        used = sum(one.placed.get(resource, 0) + one.reserved.get(resource, 0) for one in below)
        wanted = asked if quota.lends else max(asked, quota.min.get(resource, 0))
        standing.child_request[resource] = asked
        standing.request[resource] = wanted
        standing.limit_request[resource] = min(wanted, most)
        standing.used[resource] = used


def _share(family: Family, parent: str, found: dict[str, Standing], known: Units) -> None:
    """Runtime of the children."""
    children = [family.quotas[name] for name in family.children.get(parent, ())]
    for resource in dict.fromkeys(resource for quota in children for resource in quota.max):
        mine = [quota for quota in children if resource in quota.max]
        least = {quota.name: quota.min.get(resource, 0) for quota in mine}
        asked = {quota.name: found[quota.name].limit_request[resource] for quota in mine}
        total = known.get(resource, sum(least.values()))
        due = sum(min(least[one.name], asked[one.name]) if one.lends else least[one.name] for one in mine)
        if due > total:
            # Those that lend nothing keep what they have, as long as that is there.
            kept = {quota.name: least[quota.name] for quota in mine if not quota.lends}
            others = {name: units for name, units in least.items() if name not in kept}
            kept = scaled(total, 0, kept)
            least = {**kept, **scaled(total, sum(kept.values()), others)}
        rows = [
            Child(one.name, least[one.name], asked[one.name], one.weight.get(resource, 0), one.lends) for one in mine
        ]
        for name, units in runtime(total, rows).items():
            found[name].runtime[resource] = units
