"""Jobs are let in as a whole, and runtime may divide a cluster so that none of them fits its part: two quotas of one
half each, and a job for three quarters in both. Then what nobody else can use goes to one of them all the same.

Only room that no pod waits for is given so, and only when nobody else can be let in.
"""

from collections.abc import Mapping

from admission.model.elastic_quota import NO_UNITS, ROOT, ElasticQuota, Units
from admission.rules.elastic_quotas import Demand, Family, Standing, total_of

Room = Mapping[str, Units]  # by head of a tree


def idle_room(family: Family, standings: Mapping[str, Standing], demand: Mapping[str, Demand], capacity: Units) -> Room:
    """What each tree has left beside what is used and what pods that wait may still use."""
    room: dict[str, dict[str, int]] = {}
    for head, known in _heads(family, capacity):
        tops = [family.quotas[name] for name in family.children.get(head, ())]
        least: dict[str, int] = {}
        for resource in dict.fromkeys(resource for quota in tops for resource in quota.max):
            least[resource] = sum(quota.min.get(resource, 0) for quota in tops)
        room[head] = {**least, **known}
    for name in family.downwards:
        if name in family.quotas and not family.inner(name):
            left, standing = room[head_of(family, name)], standings[name]
            for resource, used in standing.used.items():
                waiting = demand[name].unplaced.get(resource, 0)
                claimed = used + max(0, min(waiting, standing.runtime[resource] - used))
                left[resource] = left.get(resource, 0) - claimed
    return room


def head_of(family: Family, name: str) -> str:
    """The head of the tree of a quota that hangs in one."""
    while name in family.quotas and family.quotas[name].parent:
        name = family.quotas[name].parent
    return name


def beyond_runtime(quota: ElasticQuota, standing: Standing, asked: Units, room: Units) -> dict[str, int] | None:
    """The use that a job of this size would lead to, where runtime alone keeps it out; None where it does not, or where
    there is no room."""
    counted = {resource: units for resource, units in asked.items() if units and resource in quota.max}
    after = {resource: standing.used[resource] + units for resource, units in counted.items()}
    if all(units <= standing.runtime[resource] for resource, units in after.items()):
        return None
    fits = all(units <= room.get(resource, 0) for resource, units in counted.items())
    return after if fits and all(units <= quota.max[resource] for resource, units in after.items()) else None


def _heads(family: Family, capacity: Units) -> list[tuple[str, Units]]:
    """Heads of trees, and what is known that they have."""
    roots = [(name, total_of(quota)) for name, quota in family.quotas.items() if not quota.parent]
    return [*[(name, capacity if name == ROOT else NO_UNITS) for name in family.heads], *roots]
