"""What a Workload must not say, beyond its schema, and what must not change about it while it holds quota.

Parts that an update leaves alone are not judged again: an object that predates a rule can still be admitted, evicted,
finished and deleted.
"""

import re
from collections.abc import Iterator

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, forbidden, invalid, key, not_found, required, unsupported
from admission.model.amounts import BadQuantity, amount
from admission.model.gates import DEFAULTS, Gates
from admission.model.names import PRIORITY_BOOST
from admission.validation.gates import check_gates
from admission.validation.quotas import non_negative
from admission.validation.resource_flavor import tolerations
from admission.validation.syntax import LONGEST_LABEL, annotations, label_key, labels
from admission.validation.unchanged import unchanged
from admission.validation.workload_shape import Assignment, PodSet, PodSetUpdate, Resources, TopologyRequest, Workload
from admission.validation.workload_update import check_update

_PODS = "pods"  # Kueue counts pods under this resource by itself
_BOOST = key("metadata.annotations", PRIORITY_BOOST)
_INTEGER = re.compile(r"[+-]?[0-9]{1,64}").fullmatch


def check_workload(document: Document, before: Document | None, gates: Gates = DEFAULTS) -> list[FieldError]:
    """Raises Unreadable."""
    workload = view(document, Workload)
    if workload.metadata.deletion_timestamp is not None:
        return []
    old = view(before, Workload) if before is not None else None
    spec_changed = before is None or not unchanged(document, before, "spec")
    errors = _pod_sets(workload, gates) if spec_changed else []
    if spec_changed or (old is not None and old.elastic != workload.elastic):
        errors += _shrinking(workload)
    errors += _admission(workload, old)
    errors += _conditions(workload)
    errors += _reclaimable(workload, old)
    errors += _check_states(workload)
    if old is not None and before is not None:
        errors += check_update(workload, old, document, before, spec_changed)
    return errors + _annotations(workload, old, gates)


def warnings_of(document: Document) -> tuple[str, ...]:
    """What is accepted today and will not be for ever. Raises Unreadable."""
    return tuple(
        f"spec.podSets[{at}].topologyRequest.subGroupCount: "
        f"negative value {request.sub_group_count} is deprecated and will be rejected in a future release"
        for at, pod_set in enumerate(view(document, Workload).pod_sets)
        if (request := pod_set.topology_request) is not None and (request.sub_group_count or 0) < 0
    )


def _pod_sets(workload: Workload, gates: Gates) -> list[FieldError]:
    return [
        error
        for at, pod_set in enumerate(workload.pod_sets)
        for error in _pod_set(f"spec.podSets[{at}]", pod_set, gates)
    ]


def _shrinking(workload: Workload) -> list[FieldError]:
    """Partial admission searches along one number; and a job that changes its size itself needs no other to do it."""
    shrinking = sum(pod_set.min_count is not None for pod_set in workload.pod_sets)
    errors = []
    if shrinking > 1:
        errors.append(invalid("spec.podSets", shrinking, "at most one podSet can use minCount"))
    if shrinking and workload.elastic:
        why = "partial admission and elastic job cannot be used together"
        errors.append(invalid("spec.podSets", shrinking, why))
    return errors


def _annotations(workload: Workload, old: Workload | None, gates: Gates) -> list[FieldError]:
    errors = []
    if gates["AdmissionGatedBy"]:
        before = None if old is None else old.metadata.annotations
        errors += check_gates(workload.metadata.annotations, before, created=old is None)
    boost = workload.annotation(PRIORITY_BOOST)
    if gates["PriorityBoost"] and boost is not None:
        if not boost:
            why = 'must be a valid signed integer; use "0" explicitly, empty string is not allowed'
            errors.append(invalid(_BOOST, boost, why))
        elif not (_INTEGER(boost) and -(2**31) <= int(boost) < 2**31):
            errors.append(invalid(_BOOST, boost, "must be a valid signed integer"))
    return errors


def _pod_set(path: str, pod_set: PodSet, gates: Gates) -> Iterator[FieldError]:
    template = pod_set.template
    if template is not None and template.metadata is not None and gates["WorkloadValidationForPodSetMetadata"]:
        yield from labels(f"{path}.template.metadata.labels", template.metadata.labels)
        yield from annotations(f"{path}.template.metadata.annotations", template.metadata.annotations)
    if template is not None and template.spec is not None:
        spec, here = template.spec, f"{path}.template.spec"
        for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
            for at, container in enumerate(containers or ()):
                yield from _resources(f"{here}.{field}[{at}].resources", container.resources, gates)
        yield from _resources(f"{here}.resources", spec.resources, gates)
    if pod_set.topology_request is not None:
        yield from _slices(f"{path}.topologyRequest", pod_set.topology_request)


def _resources(path: str, resources: Resources | None, gates: Gates) -> Iterator[FieldError]:
    """A negative request would be credit: it would let others exceed the quota."""
    if resources is None:
        return
    for field, quantities in (("requests", resources.requests), ("limits", resources.limits)):
        for resource, number in (quantities or {}).items():
            if number is None:
                continue
            here = key(f"{path}.{field}", resource)
            if resource == _PODS:
                yield invalid(here, resource, "the key is reserved for internal kueue use")
            if gates["WorkloadValidateResourcesAreNonNegative"]:
                yield from non_negative(here, number)


def _slices(path: str, request: TopologyRequest) -> Iterator[FieldError]:
    size = request.pod_set_slice_size
    here = f"{path}.podSetSliceSize"
    if request.pod_set_slice_required_topology is None:
        if size is not None:
            yield forbidden(here, "may not be set when podSetSliceRequiredTopology is not specified")
    elif size is None:
        yield required(here, "must be set when podSetSliceRequiredTopology is specified")
    elif size <= 0:
        yield invalid(here, size, "must be greater than 0")
    for at, constraint in enumerate(request.podset_slice_required_topology_constraints or ()):
        if constraint.size <= 0:
            where = f"{path}.podsetSliceRequiredTopologyConstraints[{at}].size"
            yield invalid(where, constraint.size, "must be greater than 0")


def _conditions(workload: Workload) -> Iterator[FieldError]:
    """All else about them is the schema's."""
    for at, condition in enumerate(workload.status.conditions or ()):
        if len(condition.type) > LONGEST_LABEL:
            yield from label_key(f"status.conditions[{at}].type", condition.type)


def _admission(workload: Workload, old: Workload | None) -> list[FieldError]:
    """A reservation says what it reserves. One that never did may still converge."""
    if not workload.reserved:
        return []
    admission = workload.status.admission
    if admission is None:
        was_so = old is not None and old.reserved and old.status.admission is None
        return [] if was_so else [required("status.admission", "must be set while the QuotaReserved condition is true")]
    if old is not None and old.status.admission == admission:
        return []
    names = {pod_set.name for pod_set in workload.pod_sets}
    errors = []
    for at, assignment in enumerate(admission.pod_set_assignments or ()):
        path = f"status.admission.podSetAssignments[{at}]"
        if assignment.name not in names:
            errors.append(not_found(f"{path}.name", assignment.name))
        errors += _divisible(path, assignment)
    return errors


def _divisible(path: str, assignment: Assignment) -> Iterator[FieldError]:
    """Usage is of all pods together; a pod's share must be whole, since reclaimed pods give theirs back."""
    if not assignment.count or assignment.count < 0:
        return
    for resource, number in (assignment.resource_usage or {}).items():
        if number is None:
            continue
        here = key(f"{path}.resourceUsage", resource)
        try:
            units = amount(resource, number)
        except BadQuantity as error:
            yield invalid(here, str(number), str(error))
            continue
        if units % assignment.count:
            yield invalid(here, str(number), f"is not a multiple of {assignment.count}")


def _reclaimable(workload: Workload, old: Workload | None) -> list[FieldError]:
    """An elastic workload may still carry the count of a time when it was larger."""
    stale = (old.status.reclaimable_pods or ()) if old is not None and workload.elastic else ()
    counts = {pod_set.name: pod_set.count for pod_set in workload.pod_sets}
    errors = []
    for pods in workload.status.reclaimable_pods or ():
        path = key("status.reclaimablePods", pods.name)
        if pods.name not in counts:
            errors.append(unsupported(f"{path}.name", pods.name, tuple(counts)))
        elif pods.count > counts[pods.name] and pods not in stale:
            errors.append(invalid(f"{path}.count", pods.count, f"should be less or equal to {counts[pods.name]}"))
    return errors


def _check_states(workload: Workload) -> list[FieldError]:
    names = sorted({pod_set.name for pod_set in workload.pod_sets})
    errors = []
    for at, check in enumerate(workload.status.admission_checks or ()):
        for index, update in enumerate(view(update, PodSetUpdate) for update in check.pod_set_updates or ()):
            path = f"status.admissionChecks[{at}].podSetUpdates[{index}]"
            if update.name not in names:
                errors.append(unsupported(f"{path}.name", update.name, tuple(names)))
            errors += tolerations(f"{path}.tolerations", [toleration.key for toleration in update.tolerations or ()])
            errors += annotations(f"{path}.annotations", update.annotations)
            errors += labels(f"{path}.nodeSelector", update.node_selector)
            errors += labels(f"{path}.labels", update.labels)
    return errors
