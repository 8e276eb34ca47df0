"""Workload: v1beta1 names its priority class by two fields, spells one name wrongly, and lists domains one by one.

Lost on the way to v1beta1: preemption gates, slices within slices. Lost on the way back: the name of a class without
its source.
"""

import json
from typing import Any

from admission.conversion.fields import (
    Object,
    Step,
    Unconvertible,
    a_list,
    an_object,
    changed,
    each_changed,
    renamed,
    without,
)
from admission.model.topology_assignment import BadAssignment, Domain, domains_of, slices_of

_SOURCES = {
    "kueue.x-k8s.io/workloadpriorityclass": ("kueue.x-k8s.io", "WorkloadPriorityClass"),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}
_CLASSES = {told: source for source, told in _SOURCES.items()}
_RAN_OLD, _RAN = "accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds"


def to_v1beta2(workload: Object) -> Object:
    return changed(changed(workload, "spec", _newer_spec), "status", _newer_status)


def to_v1beta1(workload: Object) -> Object:
    return changed(changed(workload, "spec", _older_spec), "status", _older_status)


def _newer_spec(spec: Object) -> Object:
    name, source = spec.get("priorityClassName"), spec.get("priorityClassSource")
    spec = without(spec, "priorityClassName", "priorityClassSource", "priorityClassRef", "preemptionGates")
    told = _SOURCES.get(source) if isinstance(source, str) else None
    if name and told:
        spec = {**spec, "priorityClassRef": {"group": told[0], "kind": told[1], "name": name}}
    return spec


def _older_spec(spec: Object) -> Object:
    ref = an_object(spec.get("priorityClassRef") or {}, "priorityClassRef")
    spec = without(spec, "priorityClassRef", "priorityClassName", "priorityClassSource", "preemptionGates")
    source = _CLASSES.get((str(ref.get("group")), str(ref.get("kind"))))
    if source and ref.get("name"):
        spec = {**spec, "priorityClassName": ref["name"], "priorityClassSource": source}
    return each_changed(spec, "podSets", _older_pod_set)


def _older_pod_set(pod_set: Object) -> Object:
    return changed(
        pod_set, "topologyRequest", lambda request: without(request, "podsetSliceRequiredTopologyConstraints")
    )


def _newer_status(status: Object) -> Object:
    return _assignments(renamed(without(status, "preemptionGates"), _RAN_OLD, _RAN), _newer_topology)


def _older_status(status: Object) -> Object:
    return _assignments(renamed(without(status, "preemptionGates"), _RAN, _RAN_OLD), _older_topology)


def _assignments(status: Object, step: Step) -> Object:
    def of_pod_set(assignment: Object) -> Object:
        return changed(assignment, "topologyAssignment", step)

    return changed(status, "admission", lambda admission: each_changed(admission, "podSetAssignments", of_pod_set))


def _newer_topology(assignment: Object) -> Object:
    levels = a_list(assignment.get("levels"), "levels")
    domains = [
        _domain(entry, index, len(levels))
        for index, entry in enumerate(a_list(assignment.get("domains") or [], "domains"))
    ]
    return {**without(assignment, "domains"), "slices": slices_of(levels, domains)}


def _older_topology(assignment: Object) -> Object:
    try:
        domains = domains_of(assignment)
    except BadAssignment as error:
        raise Unconvertible("", str(error)) from error
    written = [{"values": list(domain.values), "count": domain.pods} for domain in domains]
    return {**without(assignment, "slices"), "domains": written}


def _domain(entry: Any, index: int, levels: int) -> Domain:
    path = f"domains[{index}]"
    values = a_list(an_object(entry, path).get("values"), f"{path}.values")
    count = entry.get("count")
    if len(values) != levels or not all(isinstance(value, str) for value in values):
        raise Unconvertible(f"{path}.values", f"{levels} levels need as many names")
    if type(count) is not int:
        raise Unconvertible(f"{path}.count", f"{json.dumps(count)} is not a number of pods")
    return Domain(tuple(values), count)
