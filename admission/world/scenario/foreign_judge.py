"""Whether expectations about other systems' queues and gangs hold."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from admission.model.amounts import amount, text
from admission.world.objects import Frozen
from admission.world.scenario.elastic_quotas import judge_elastic_quota
from admission.world.scenario.expectation_forms import Foreign
from admission.world.scenario.facts import Facts
from admission.world.scenario.foreign import gang_of, runs
from admission.world.scenario.paths import MISSING, same_quantity
from admission.world.scenario.source import Path


class Found(NamedTuple):
    """As `judge.Mismatch`."""

    path: Path
    expected: Any
    seen: Any
    note: str = ""
    about: tuple[Frozen, ...] = ()


def judge_foreign(expectation: Foreign, facts: Facts) -> Iterator[Found]:
    """What does not hold. Raises TypeError for a form whose need is not supported."""
    said: Mapping[str, Any] = expectation.model_extra or {}
    if "fairShare" in said:
        yield from _fair_share(said["fairShare"], facts)
    elif "gang" in said:
        yield from _gang(said, facts)
    elif "volcanoQueue" in said:
        yield from _volcano_queue(said, facts)
    elif "elasticQuota" in said:
        for found in judge_elastic_quota(said, facts.find(f"ElasticQuota/{said['elasticQuota']}")):
            yield Found(*found)
    else:
        raise TypeError(f"{', '.join(said)} cannot be judged here: its need is not supported")


def _fair_share(said: Mapping[str, Any], facts: Facts) -> Iterator[Found]:
    resource = said["resource"]
    shares = facts.kai_shares(resource)
    for queue, expected in said["queues"].items():
        seen = shares.get(queue)
        if seen is None or amount(resource, expected) != seen:
            yield Found(("fairShare", "queues", queue), expected, MISSING if seen is None else text(resource, seen))


def _gang(said: Mapping[str, Any], facts: Facts) -> Iterator[Found]:
    found = facts.find(said["gang"])
    if not found:
        yield Found(("gang",), said["gang"], MISSING, "there is no such job")
    for manifest in found:
        gang = gang_of(manifest)
        seen = {"minMember": sum(gang.values()), "subGroups": gang, "started": runs(manifest)}
        for key in ("minMember", "subGroups", "started"):
            if key in said and said[key] != seen[key]:
                yield Found((key,), said[key], seen[key], "", (manifest,))


def _volcano_queue(said: Mapping[str, Any], facts: Facts) -> Iterator[Found]:
    name = said["volcanoQueue"]
    found = facts.find(f"ClusterQueue/{name}")
    if not found:
        yield Found(("volcanoQueue",), name, MISSING, "no ClusterQueue came of it")
        return
    held: dict[str, int] = {}
    for flavor in (found[0].get("status") or {}).get("flavorsReservation") or ():
        for resource in flavor.get("resources") or ():
            units = amount(resource["name"], resource.get("total", "0"))
            held[resource["name"]] = held.get(resource["name"], 0) + units
    for resource, quantity in (said.get("allocated") or {}).items():
        seen = text(resource, held.get(resource, 0))
        if not same_quantity(quantity, seen):
            yield Found(("allocated", resource), quantity, seen, "", tuple(found))
