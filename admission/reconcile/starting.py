"""Starting a job whose Workload is admitted: what its flavors and its checks add to each pod set (Kueue 0.19)."""

from collections.abc import Iterable

from admission.jobs.workload import is_label_value
from admission.model import names
from admission.model.effects import EmitEvent, PodSetInfo, StartJob
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.model.workload import PodSetAssignment, Toleration, Workload
from admission.reconcile import transitions
from admission.reconcile.view import View
from admission.reconcile.wishes import Wishes


def start(view: View, job: Job, workload: Workload, now: float) -> Wishes:
    """The patch that releases the job, or the end of a Workload that contradicts itself."""
    assert workload.admission is not None
    infos = []
    for assignment in workload.admission.assignments:
        try:
            infos.append(_info(view, workload, assignment))
        except _Missing as missing:
            return Wishes(events=(EmitEvent(job.ref, job.uid, "Warning", "FailedToStart", str(missing)),))
        except _Contradiction as contradiction:
            return Wishes(transitions.finish_because(workload, "FailedToStart", str(contradiction), now))
    return Wishes(effects=(StartJob(job.ref, workload.ref, tuple(infos), job.resource_version),))


def started_event(job: Ref, workload: Workload) -> EmitEvent:
    """Told once the job has been started: the start may fail."""
    queue = workload.admission.cluster_queue if workload.admission is not None else ""
    return EmitEvent(job, workload.owner_uid, "Normal", "Started", f"Admitted by clusterQueue {queue}")


class _Missing(Exception):
    """Something of the admission is gone; it may come back."""


class _Contradiction(Exception):
    """Two sources want different values of one key; that never ends by itself."""


def _info(view: View, workload: Workload, assignment: PodSetAssignment) -> PodSetInfo:
    assert workload.admission is not None
    selector: dict[str, str] = {}
    tolerations: dict[Toleration, None] = {}
    for name in dict.fromkeys(assignment.flavors.values()):
        flavor = view.flavor(name)
        if flavor is None:
            raise _Missing(f"flavor {name} of the admission does not exist any more")
        selector.update(flavor.node_labels)
        tolerations.update(dict.fromkeys(flavor.tolerations))
    labels = {names.POD_SET: assignment.name}
    if view.configuration.gates["AssignQueueLabelsForPods"]:
        labels |= {
            names.LOCAL_QUEUE_NAME: workload.queue_name,
            names.CLUSTER_QUEUE_NAME: workload.admission.cluster_queue,
        }
    labels = {key: value for key, value in labels.items() if is_label_value(value)}
    annotations = {names.WORKLOAD_ANNOTATION: workload.name}
    for check in workload.checks:
        for update in check.updates:
            if update.name == assignment.name and check.state == "Ready":
                _add(labels, update.labels, check.name, "labels")
                _add(annotations, update.annotations, check.name, "annotations")
                _add(selector, update.node_selector, check.name, "nodeSelector")
                tolerations.update(dict.fromkeys(update.tolerations))
    return PodSetInfo(assignment.name, assignment.count, selector, tuple(tolerations), labels, annotations)


def _add(present: dict[str, str], added: Iterable[tuple[str, str]], check: str, field: str) -> None:
    for key, value in added:
        if present.get(key, value) != value:
            raise _Contradiction(
                f"AdmissionCheck {check} wants {field}[{key}]={value!r}, but it is {present[key]!r} already: "
                "its podSetUpdates must not change what flavors or other checks set"
            )
        present[key] = value
