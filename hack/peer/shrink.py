"""Makes a difference small: what can be left out of a scenario so that both sides still part in the same way.

Candidates of a round are played side by side, all findings together. First every event is tried without, then objects
and fields that nothing needs; what can go one by one is then tried all at once.
"""

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hack.peer.compare import Verdict
from hack.peer.scenario import Event, Manifest, Scenario, named

ROUNDS = 6
MOST = 40  # candidates of one finding in a round
Judge = Callable[[list[Scenario]], Awaitable[dict[str, Verdict]]]
Way = tuple[str, str]


@dataclass(slots=True)
class Finding:
    """A scenario and the way in which both sides part in it."""

    scenario: Scenario
    verdict: Verdict
    way: Way


def finding(verdict: Verdict) -> Finding:
    """With what is certainly not needed already left out: what comes after the parting, and chance."""
    return Finding(_settled(verdict), verdict, _way(verdict))


async def shrink(findings: list[Finding], judge: Judge, say: Callable[[str], None]) -> list[Finding]:
    """As small as a bounded number of rounds makes them."""
    going = list(range(len(findings)))
    for turn in range(ROUNDS):
        tried = {index: list(_candidates(findings[index].scenario))[:MOST] for index in going}
        names = {
            f"s{turn}-{index}-{number}": (index, candidate)
            for index, candidates in tried.items()
            for number, candidate in enumerate(candidates)
        }
        if not names:
            break
        say(f"shrinking {len(going)} findings, round {turn + 1}: {len(names)} candidates")
        verdicts = await judge([candidate.but(name=name) for name, (_, candidate) in names.items()])
        going = []
        for index in tried:
            same = [
                (candidate, verdicts[name])
                for name, (owner, candidate) in names.items()
                if owner == index and name in verdicts and _way(verdicts[name]) == findings[index].way
            ]
            if same:
                going.append(index)
                await _together(findings, index, same, judge)
    return findings


async def _together(findings: list[Finding], index: int, same: list[tuple[Scenario, Verdict]], judge: Judge) -> None:
    """All that could go one by one, at once; else the best of them."""
    before = findings[index].scenario
    best, verdict = min(same, key=lambda one: _size(one[0]))
    if len(same) > 1:
        merged = before
        for candidate, _ in same:
            merged = _both(before, merged, candidate)
        found = await judge([merged.but(name=f"m{index}")])
        if (one := found.get(f"m{index}")) is not None and _way(one) == findings[index].way:
            best, verdict = merged, one
    findings[index] = Finding(best.but(name=before.name), verdict, findings[index].way)


def _way(verdict: Verdict) -> Way:
    """What kind of thing differs first."""
    if not verdict.differences:
        return ("", "")
    path = verdict.differences[0].path
    return path[0], path[-1] if path[0] != "workloads" or len(path) < 4 else "/".join(path[2:4])


def _size(scenario: Scenario) -> int:
    return len(json.dumps(scenario.as_json()))


def _settled(verdict: Verdict) -> Scenario:
    """Events as they happened, up to the moment at which the sides part."""
    scenario = verdict.scenario
    moments = verdict.peer.moments[: verdict.place + 1] or verdict.ours.moments[: verdict.place + 1]
    last = moments[-1].event if moments else len(scenario.events) - 1
    happened = {one.event: one.what for one in moments if one.event >= 0 and not one.released}
    kept: list[Event] = []
    for index, event in enumerate(scenario.events[: last + 1]):
        if "pick" not in event:
            kept.append(event)
        elif happened.get(index):
            kept.append({key: value for key, value in event.items() if key != "pick"} | {"ref": happened[index]["ref"]})
    return _tidy(scenario.but(events=tuple(kept)))


def _candidates(scenario: Scenario) -> Iterator[Scenario]:
    events = scenario.events
    for half in (events[: len(events) // 2], events[len(events) // 2 :]):
        yield _tidy(scenario.but(events=half))
    for place in range(len(events)):
        yield _tidy(scenario.but(events=events[:place] + events[place + 1 :]))
    yield from _without_a_queue(scenario)
    for place, manifest in enumerate(scenario.objects):
        for smaller in _smaller(manifest):
            yield scenario.but(objects=scenario.objects[:place] + smaller + scenario.objects[place + 1 :])


def _without_a_queue(scenario: Scenario) -> Iterator[Scenario]:
    """And without its LocalQueues and what is submitted to them."""
    local = {named(one): one["spec"]["clusterQueue"] for one in scenario.objects if one["kind"] == "LocalQueue"}
    for queue in [one["metadata"]["name"] for one in scenario.objects if one["kind"] == "ClusterQueue"]:
        objects = tuple(one for one in scenario.objects if _queue(one, local) != queue)
        yield _tidy(scenario.but(objects=objects))


def _queue(manifest: Manifest, local: dict[str, str]) -> str:
    meta = manifest["metadata"]
    match manifest["kind"]:
        case "ClusterQueue":
            return str(meta["name"])
        case "LocalQueue":
            return str(manifest["spec"]["clusterQueue"])
        case "Workload":
            return local.get(f"LocalQueue/{meta['namespace']}/{manifest['spec']['queueName']}", "")
    return ""


def _smaller(manifest: Manifest) -> Iterator[tuple[Manifest, ...]]:
    """Without one of its optional parts, or not there at all."""
    kind, spec = manifest["kind"], manifest.get("spec") or {}
    if kind == "Cohort" and not spec.get("parentName"):
        yield ()
    optional = {
        "ClusterQueue": (
            "preemption", "flavorFungibility", "queueingStrategy", "admissionChecksStrategy", "fairSharing",
        ),
        "Cohort": ("resourceGroups", "fairSharing", "parentName"),
        "ResourceFlavor": ("nodeTaints", "tolerations", "nodeLabels"),
        "Workload": ("priorityClassRef",),
    }.get(kind, ())  # fmt: skip
    for key in optional:
        if key in spec:
            yield ({**manifest, "spec": {k: v for k, v in spec.items() if k != key}},)
    for limit in ("borrowingLimit", "lendingLimit"):
        if limit in json.dumps(spec):
            yield (_without(manifest, limit),)
    if kind == "Workload" and len(spec["podSets"]) > 1:
        for place in range(len(spec["podSets"])):
            kept = spec["podSets"][:place] + spec["podSets"][place + 1 :]
            yield ({**manifest, "spec": {**spec, "podSets": kept}},)


def _without(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _without(item, key) for name, item in value.items() if name != key}
    return [_without(item, key) for item in value] if isinstance(value, list) else value


def _both(before: Scenario, one: Scenario, other: Scenario) -> Scenario:
    """What neither leaves out; a changed object of either."""
    events = tuple(event for event in one.events if event in other.events)
    originals = {named(manifest): manifest for manifest in before.objects}
    theirs = {named(manifest): manifest for manifest in other.objects}
    objects = []
    for manifest in one.objects:
        name = named(manifest)
        if name in theirs:
            objects.append(theirs[name] if theirs[name] != originals[name] else manifest)
    return _tidy(one.but(events=events, objects=tuple(objects)))


def _tidy(scenario: Scenario) -> Scenario:
    """Without objects that nothing names any more, and events about what is not there."""
    created = {event["ref"] for event in scenario.events if event["op"] == "create"}
    objects = [one for one in scenario.objects if one["kind"] != "Workload" or named(one) in created]
    there = {named(one) for one in objects}
    events = [event for event in scenario.events if "ref" not in event or event["ref"] in there]
    used = json.dumps([one["spec"] for one in objects if one["kind"] == "Workload"]) + json.dumps(events)
    local = [one for one in objects if one["kind"] == "LocalQueue" and one["metadata"]["name"] not in used]
    objects = [one for one in objects if one not in local]
    return scenario.but(objects=tuple(objects), events=tuple(events))
