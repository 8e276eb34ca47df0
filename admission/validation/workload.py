"""What a Workload must not say, beyond its schema, and what must not change about it while it holds quota.

Parts that an update leaves alone are not judged again: an object that predates a rule can still be admitted, evicted,
finished and deleted.
"""

from collections.abc import Iterator

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, forbidden, invalid, key, not_found, required, unsupported
from admission.model.amounts import BadQuantity, amount
from admission.validation.gates import check_gates
from admission.validation.quotas import non_negative
from admission.validation.resource_flavor import tolerations
from admission.validation.syntax import annotations, labels
from admission.validation.workload_shape import Assignment, PodSet, PodSetUpdate, Quantities, TopologyRequest, Workload
from admission.validation.workload_update import check_update, part_changed

_PODS = "pods"  # Kueue counts pods under this resource by itself


def check_workload(document: Document, before: Document | None) -> list[FieldError]:
    """Raises Unreadable."""
    workload = view(document, Workload)
    if workload.metadata.deletion_timestamp is not None:
        return []
    old = view(before, Workload) if before is not None else None
    spec_changed = before is None or part_changed(document, before, "spec")
    errors = _spec(workload) if spec_changed else []
    errors += _admission(workload, old)
    errors += _reclaimable(workload)
    errors += _check_states(workload)
    if old is None or before is None:
        return errors + check_gates(workload.metadata.annotations)
    errors += check_update(workload, old, document, before, spec_changed)
    return errors + check_gates(workload.metadata.annotations, old.metadata.annotations, created=False)


def _spec(workload: Workload) -> list[FieldError]:
    errors = [
        error for at, pod_set in enumerate(workload.pod_sets) for error in _pod_set(f"spec.podSets[{at}]", pod_set)
    ]
    shrinking = sum(pod_set.min_count is not None for pod_set in workload.pod_sets)
    if shrinking > 1:
        errors.append(invalid("spec.podSets", shrinking, "at most one podSet can use minCount"))
    return errors


def _pod_set(path: str, pod_set: PodSet) -> Iterator[FieldError]:
    template = pod_set.template
    if template is not None and template.metadata is not None:
        yield from labels(f"{path}.template.metadata.labels", template.metadata.labels)
        yield from annotations(f"{path}.template.metadata.annotations", template.metadata.annotations)
    if template is not None and template.spec is not None:
        spec, here = template.spec, f"{path}.template.spec"
        for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
            for at, container in enumerate(containers or ()):
                if container.resources is not None:
                    resources = f"{here}.{field}[{at}].resources"
                    yield from _quantities(f"{resources}.requests", container.resources.requests)
                    yield from _quantities(f"{resources}.limits", container.resources.limits)
        if spec.resources is not None:
            yield from _quantities(f"{here}.resources.requests", spec.resources.requests)
            yield from _quantities(f"{here}.resources.limits", spec.resources.limits)
    if pod_set.topology_request is not None:
        yield from _slices(f"{path}.topologyRequest", pod_set.topology_request)


def _quantities(path: str, quantities: Quantities | None) -> Iterator[FieldError]:
    """A negative request would be credit: it would let others exceed the quota."""
    for resource, number in (quantities or {}).items():
        if resource == _PODS:
            yield invalid(key(path, resource), resource, "the key is reserved for internal kueue use")
        yield from non_negative(key(path, resource), number)


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
        here = key(f"{path}.resourceUsage", resource)
        try:
            units = amount(resource, number)
        except BadQuantity as error:
            yield invalid(here, str(number), str(error))
            continue
        if units % assignment.count:
            yield invalid(here, str(number), f"is not a multiple of {assignment.count}")


def _reclaimable(workload: Workload) -> list[FieldError]:
    counts = {pod_set.name: pod_set.count for pod_set in workload.pod_sets}
    errors = []
    for pods in workload.status.reclaimable_pods or ():
        path = key("status.reclaimablePods", pods.name)
        if pods.name not in counts:
            errors.append(unsupported(f"{path}.name", pods.name, tuple(counts)))
        elif pods.count > counts[pods.name]:
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
