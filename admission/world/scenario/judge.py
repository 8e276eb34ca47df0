"""Whether an expectation holds: pure functions over raw objects, for a run in memory and on a real API server alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from admission.model.names import PREEMPTED
from admission.world.objects import Frozen, condition
from admission.world.scenario.expectation_forms import (
    ClusterQueueIs,
    ConditionIs,
    CountEvictions,
    CountIs,
    CountWorkloads,
    EventSent,
    Expectation,
    FieldIs,
    Foreign,
    IsGone,
    IsQuiet,
    RequestIs,
    WorkloadIs,
)
from admission.world.scenario.facts import Facts
from admission.world.scenario.foreign_judge import judge_foreign
from admission.world.scenario.paths import MISSING, absent, at, contains, equal_at, same_quantity
from admission.world.scenario.requests import judge_request
from admission.world.scenario.source import Path
from admission.world.scenario.states import BEHIND, is_in, states_of


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that is not as expected. `path` leads to the expected value inside the expectation; `seen` is what
    would make it hold, MISSING when nothing would. `about`: the objects to show."""

    path: Path
    expected: Any
    seen: Any
    note: str = ""
    about: tuple[Frozen, ...] = ()


def judge(expectation: Expectation, facts: Facts) -> list[Mismatch]:
    """What does not hold; empty when all of it does. `at` must be the present moment of `facts`."""
    match expectation:
        case WorkloadIs():
            return list(_each_workload(expectation, facts))
        case ConditionIs():
            return list(_condition(expectation, facts))
        case FieldIs():
            return list(_field(expectation, facts))
        case ClusterQueueIs():
            return list(_cluster_queue(expectation, facts))
        case RequestIs():
            return [Mismatch(*found) for found in judge_request(expectation, facts.asked(expectation.request))]
        case CountIs():
            return list(_count(expectation, facts))
        case IsQuiet():
            last = facts.last_flip()
            if last is not None and last > expectation.at - expectation.quiet.for_:
                note = f"a condition changed at t={last:g}"
                return [Mismatch(("quiet", "for"), expectation.quiet.for_, expectation.at - last, note)]
            return []
        case IsGone():
            found = facts.find(expectation.gone)
            return [Mismatch(("gone",), expectation.gone, MISSING, "it is still there", tuple(found))] if found else []
        case EventSent():
            if facts.event_sent(expectation.event, expectation.about):
                return []
            return [Mismatch(("event",), expectation.event, MISSING, f"no such Event about {expectation.about}")]
        case Foreign():
            return [Mismatch(*found) for found in judge_foreign(expectation, facts)]


def _objects(expectation: Any, facts: Facts) -> tuple[str, Sequence[Frozen]]:
    """The key that names the objects, and the objects."""
    if expectation.workload is not None:
        return "workload", facts.find(f"Workload/{expectation.workload}")
    if expectation.workloadOf is not None:
        return "workloadOf", facts.workloads_of(expectation.workloadOf)
    return "object", facts.find(expectation.object)


def _each_workload(a: WorkloadIs, facts: Facts) -> Iterator[Mismatch]:
    key, found = _objects(a, facts)
    if not found:
        yield Mismatch((key,), getattr(a, key), MISSING, "there is no such Workload")
    for workload in found:
        for mismatch in _workload(a, workload):
            yield Mismatch(mismatch.path, mismatch.expected, mismatch.seen, mismatch.note, (workload,))


def _workload(a: WorkloadIs, workload: Frozen) -> Iterator[Mismatch]:
    spec, status = workload.get("spec") or {}, workload.get("status") or {}
    if a.state is not None:
        yield from _state(a, workload)
    if a.preemptionReason is not None:
        found = condition(workload, PREEMPTED)
        seen = found["reason"] if found is not None and found["status"] == "True" else MISSING
        if seen != a.preemptionReason:
            yield Mismatch(("preemptionReason",), a.preemptionReason, seen)
    if a.checks is not None:
        checks = {check["name"]: check["state"] for check in status.get("admissionChecks") or ()}
        if checks != a.checks:
            yield Mismatch(("checks",), a.checks, checks)
    if a.podSetOrder is not None:
        order = [pod_set.get("name") for pod_set in spec.get("podSets") or ()]
        if order != a.podSetOrder:
            yield Mismatch(("podSetOrder",), a.podSetOrder, order)
    yield from _admission(a, status.get("admission") or {})


def _state(a: WorkloadIs, workload: Frozen) -> Iterator[Mismatch]:
    assert a.state is not None
    if not is_in(workload, a.state):
        yield Mismatch(("state",), a.state, states_of(workload)[0], "holds: " + ", ".join(states_of(workload)))
        return
    behind = condition(workload, BEHIND[a.state]) or {}
    if a.reason is not None and behind.get("reason") != a.reason:
        yield Mismatch(("reason",), a.reason, behind.get("reason", MISSING), f"of {BEHIND[a.state]}")
    if a.messageContains is not None and a.messageContains not in behind.get("message", ""):
        yield Mismatch(("messageContains",), a.messageContains, behind.get("message") or MISSING)


def _admission(a: WorkloadIs, admission: Mapping[str, Any]) -> Iterator[Mismatch]:
    if a.admittedBy is not None and admission.get("clusterQueue") != a.admittedBy:
        yield Mismatch(("admittedBy",), a.admittedBy, admission.get("clusterQueue", MISSING))
    assigned = {entry["name"]: entry for entry in admission.get("podSetAssignments") or ()}
    for pod_set, flavors in (a.flavors or {}).items():
        there = assigned.get(pod_set, {}).get("flavors") or {}
        for resource, flavor in flavors.items():
            if there.get(resource) != flavor:
                yield Mismatch(("flavors", pod_set, resource), flavor, there.get(resource, MISSING))
    for pod_set, amounts in (a.resourceUsage or {}).items():
        there = assigned.get(pod_set, {}).get("resourceUsage") or {}
        for resource, quantity in amounts.items():
            if not same_quantity(quantity, there.get(resource)):
                yield Mismatch(("resourceUsage", pod_set, resource), quantity, there.get(resource, MISSING))
    for pod_set, count in (a.counts or {}).items():
        seen = assigned.get(pod_set, {}).get("count", MISSING)
        if seen != count:
            yield Mismatch(("counts", pod_set), count, seen)
    for index, resource in enumerate(a.noFlavorFor or ()):
        for entry in assigned.values():
            if resource in (entry.get("flavors") or {}):
                note = f"pod set {entry['name']} has flavor {entry['flavors'][resource]} for it"
                yield Mismatch(("noFlavorFor", index), resource, MISSING, note)


def _condition(a: ConditionIs, facts: Facts) -> Iterator[Mismatch]:
    key, found = _objects(a, facts)
    if not found:
        yield Mismatch((key,), getattr(a, key), MISSING, "there is no such object")
    for manifest in found:
        seen = condition(manifest, a.condition) or {}
        if seen.get("status") != a.status:
            note = (
                f"{a.condition}: {seen.get('reason')}: {seen.get('message')}" if seen else f"no {a.condition} condition"
            )
            yield Mismatch(("status",), a.status, seen.get("status", MISSING), note, (manifest,))
        elif a.reason is not None and seen.get("reason") != a.reason:
            yield Mismatch(("reason",), a.reason, seen.get("reason", MISSING), str(seen.get("message")), (manifest,))


def _field(a: FieldIs, facts: Facts) -> Iterator[Mismatch]:
    key, found = _objects(a, facts)
    if not found:
        yield Mismatch((key,), getattr(a, key), MISSING, "there is no such object")
    for manifest in found:
        read = manifest if a.as_ is None else facts.in_version(manifest, a.as_) or {}
        seen = at(read, a.field)
        if "equals" in a.model_fields_set:
            held, expected, test = equal_at(a.field, a.equals, seen), a.equals, "equals"
        elif "contains" in a.model_fields_set:
            held, expected, test = contains(a.contains, seen), a.contains, "contains"
        elif a.length is not None:
            there = [] if absent(seen) else seen
            seen = len(there) if isinstance(there, list | dict | str) else MISSING
            held, expected, test = seen == a.length, a.length, "length"
        else:
            held, expected, test = absent(seen), True, "absent"
        if not held:
            note = f"{a.field} is {seen!r}" if test == "absent" else a.field
            yield Mismatch((test,), expected, MISSING if test == "absent" else seen, note, (manifest,))


def _cluster_queue(a: ClusterQueueIs, facts: Facts) -> Iterator[Mismatch]:
    found = facts.find(f"ClusterQueue/{a.clusterQueue}")
    if not found:
        yield Mismatch(("clusterQueue",), a.clusterQueue, MISSING, "there is no such ClusterQueue")
        return
    flavors = {
        flavor["name"]: {resource["name"]: resource for resource in flavor.get("resources") or ()}
        for flavor in (found[0].get("status") or {}).get("flavorsReservation") or ()
    }
    for key, figure, expected in (("reserved", "total", a.reserved), ("borrowed", "borrowed", a.borrowed)):
        for flavor, amounts in (expected or {}).items():
            for resource, quantity in amounts.items():
                seen = flavors.get(flavor, {}).get(resource, {}).get(figure, "0")
                if not same_quantity(quantity, seen):
                    yield Mismatch((key, flavor, resource), quantity, seen, "", tuple(found))


def _count(a: CountIs, facts: Facts) -> Iterator[Mismatch]:
    seen = _counted(a, facts)
    if a.equals is not None and seen != a.equals:
        yield Mismatch(("equals",), a.equals, seen)
    if a.min is not None and seen < a.min:
        yield Mismatch(("min",), a.min, seen)
    if a.max is not None and seen > a.max:
        yield Mismatch(("max",), a.max, seen)


def _counted(a: CountIs, facts: Facts) -> int:
    match a.count:
        case CountWorkloads(namespace=namespace, state=state, names=names):
            return sum(
                (state is None or is_in(workload, state)) and (names is None or workload["metadata"]["name"] in names)
                for workload in facts.workloads(namespace)
            )
        case CountEvictions(workload=workload, workloadOf=owner):
            if owner is not None:
                return facts.evictions(facts.names_ever_owned(owner))
            return facts.evictions(None if workload is None else [workload])
        case writes:
            return sum(writes.from_ <= write.t <= writes.to for write in facts.writes(writes.ref))
