"""Argo Workflow: one pod set for all that it runs.

Held, it starts no further pods, but those that run are left to end; until then it counts as active. Its pods get node
selector and tolerations from their template, else from the template that calls it, else from the workflow, each as a
whole: starting writes into every place that has any.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from admission.jobs.descriptor import Manifest, Stop
from admission.jobs.hold import SUSPEND
from admission.jobs.merge_patch import difference, joined
from admission.jobs.originals import put_back, with_note
from admission.jobs.places import Path, replaced, value_at
from admission.jobs.reading import Facts, read_job
from admission.jobs.templates import PermanentProblem, started, submitted
from admission.jobs.workflow_pod import needed, stand_in
from admission.jobs.workflow_templates import places
from admission.model.effects import PodSetInfo
from admission.model.job import Job, JobEnd
from admission.readers.metadata import read_conditions
from admission.readers.narrow import entries, mapping, text
from admission.readers.pod_set import pod_set

MAIN = "main"

_ENDED = ("Succeeded", "Failed", "Error")
_POD_MAY_BE = ("", "Pending", "Running")  # phases of a node whose pod is not over
_INNER = ("Steps", "StepGroup", "DAG", "TaskGroup", "Retry", "Skipped")  # types of nodes that run nothing themselves
_METADATA: Path = ("spec", "podMetadata")
_SCHEDULING = ("nodeSelector", "tolerations")

hold = SUSPEND
stop: Stop = "Suspend"


def read(manifest: Manifest) -> Job:
    needs = needed(manifest)
    main = pod_set(MAIN, stand_in(manifest, needs), 1)
    return read_job("Workflow", manifest, (main,), hold.holds(manifest), _facts(manifest, str(needs.problem or "")))


def pod_sets(manifest: Manifest) -> list[dict[str, Any]]:
    return [{"name": MAIN, "count": 1, "template": submitted(stand_in(manifest, needed(manifest)))}]


def start(manifest: Manifest, infos: Sequence[PodSetInfo]) -> dict[str, Any]:
    if len(infos) != 1:
        raise PermanentProblem(f"invalid podset infos: expecting 1 podset, got {len(infos)}")
    before = put_back(manifest) or manifest
    fields = [*(("spec", field) for field in _SCHEDULING), *_inner(before)]
    wanted = with_note(before, [_METADATA, *fields])
    labelled = started({"metadata": mapping(value_at(before, _METADATA))}, infos[0])
    wanted = replaced(wanted, _METADATA, labelled["metadata"] or None)
    for path in fields:
        now = value_at(before, path)
        merged = started({"spec": {} if now is None else {path[-1]: now}}, infos[0])
        wanted = replaced(wanted, path, merged["spec"].get(path[-1]))
    return joined(difference(manifest, hold.set(wanted, held=False)), hold.patch(held=False))


def suspend() -> dict[str, Any]:
    return hold.patch(held=True)


def forget_start() -> dict[str, Any] | None:
    return None


def restore(manifest: Manifest, workload: Manifest | None) -> dict[str, Any]:
    before = put_back(manifest)
    if before is None:
        return hold.patch(held=True)
    return joined(difference(manifest, hold.set(before, held=True)), hold.patch(held=True))


def _inner(manifest: Manifest) -> list[Path]:
    """Fields of templates that stand in the way of those of the workflow."""
    return [
        (*path, field)
        for path, template in places(mapping(manifest.get("spec")))
        for field in _SCHEDULING
        if template.get(field)
    ]


def _facts(manifest: Manifest, problem: str) -> Facts:
    status = mapping(manifest.get("status"))
    phase, nodes = text(status.get("phase")), entries(list(mapping(status.get("nodes")).values()))
    running = read_conditions(status.get("conditions")).get("PodRunning")
    end = JobEnd(phase == "Succeeded", text(status.get("message"))) if phase in _ENDED else None
    up = running is not None and running.true
    return Facts(
        active=end is None and (up or _hidden(status) or any(_in_pod(node) for node in nodes)),
        end=end,
        pods_ready=phase == "Running" and (up or any(_began(node) for node in nodes)),
        problem=problem,
    )


def _in_pod(node: Mapping[str, Any]) -> bool:
    """A node that waits for a lock has no pod yet."""
    waits = text(mapping(node.get("synchronizationStatus")).get("waiting"))
    return node.get("type") == "Pod" and text(node.get("phase")) in _POD_MAY_BE and not waits


def _began(node: Mapping[str, Any]) -> bool:
    return text(node.get("type"), "Skipped") not in _INNER and text(node.get("phase")) not in ("", "Pending")


def _hidden(status: Mapping[str, Any]) -> bool:
    """Nodes of large workflows are compressed, or kept in a database: then there may well be a pod among them, unless
    Argo says that none runs."""
    stored = text(status.get("compressedNodes")) or text(status.get("offloadNodeStatusVersion"))
    return bool(stored) and "PodRunning" not in read_conditions(status.get("conditions"))
