"""What a scenario asks of a runner beyond core queueing, and which of it this runner lacks."""

from collections.abc import Iterator, Mapping
from typing import Any

from admission.jobs import JOB_KINDS
from admission.jobs.described import lenders
from admission.readers.job_kind import read_job_kind
from admission.world.scenario.file_form import ScenarioFile
from admission.world.scenario.naming import group_of

_CORE_GROUPS = ("", "batch", "kueue.x-k8s.io", "scheduling.k8s.io", "node.k8s.io", "lockgate.dev")
_GROUP_NEEDS = {
    "leaderworkerset.x-k8s.io": "leaderworkerset",
    "batch.volcano.sh": "volcano-job",
    "scheduling.volcano.sh": "volcano-queue",
    "scheduling.run.ai": "kai-queue",
    "scheduling.sigs.k8s.io": "elasticquota",
    "config.koordinator.sh": "colocationprofile",
}
_OP_NEEDS = {
    "start-replicas": "replicas", "kill-leader": "faults", "restart-controller": "faults",
    "conflict-injector": "faults", "forbid-reads": "faults", "rotate-serving-cert": "live-only", "fake-rm": "yarn",
}  # fmt: skip
BY_CHOICE = frozenset({"live-only", "offline-only"})  # no manifest shows these

# What is run here of the things that `needs` can name.
_SUPPORTED = frozenset(
    {"offline-only", "colocationprofile", "conversion", "elasticquota", "faults", "kai-queue", "limitrange", "qos",
     "replicas", "runtimeclass", "volcano-job", "volcano-queue"}
)  # fmt: skip


def needs_of(form: ScenarioFile) -> set[str]:
    """The needs that objects and events of the file show."""
    needs = {_OP_NEEDS[event.op] for event in form.events if event.op in _OP_NEEDS}
    lending = set(_lending(form))
    for manifest in form.objects:
        group, kind, meta = group_of(manifest), manifest["kind"], manifest["metadata"]
        labels, notes = meta.get("labels") or {}, meta.get("annotations") or {}
        if group in _GROUP_NEEDS:
            needs.add(_GROUP_NEEDS[group])
        elif group not in _CORE_GROUPS and kind not in lending:
            needs.add(f"jobs:{kind}")
        if kind in ("LimitRange", "RuntimeClass"):
            needs.add(kind.lower())
        if manifest["apiVersion"] == "kueue.x-k8s.io/v1beta1":
            needs.add("conversion")
        if kind == "Pod":
            needs.update(_pod_needs(labels, notes))
        if "koordinator.sh/qosClass" in labels:
            needs.add("qos")
    return needs


def _lending(form: ScenarioFile) -> Iterator[str]:
    """Kinds that are no jobs, but have pod templates of jobs in them."""
    for rules in (read_job_kind(one).rules for one in form.objects if one["kind"] == "JobKind"):
        yield from (one.kind.partition(".")[0] for one in (lenders(rules) if rules is not None else ()))


def _pod_needs(labels: Mapping[str, Any], notes: Mapping[str, Any]) -> Iterator[str]:
    if "kueue.x-k8s.io/queue-name" in labels:
        yield "pods"
    if "kueue.x-k8s.io/pod-group-name" in labels or "kueue.x-k8s.io/pod-group-total-count" in notes:
        yield "podgroups"


def lacking(form: ScenarioFile) -> list[str]:
    """What the file needs and this runner does not have, named for people; empty: it can be run."""
    missing = [need for need in sorted(form.needs) if not _supported(need, form)]
    for manifest in form.objects:
        missing += _in_manifest(manifest)
    return list(dict.fromkeys(missing))


def _supported(need: str, form: ScenarioFile) -> bool:
    """Kinds of jobs are built in, or described by the file itself."""
    area, _, kind = need.partition(":")
    if area != "jobs":
        return need in _SUPPORTED
    described = ((one.get("spec") or {}).get("kind") for one in form.objects if one["kind"] == "JobKind")
    return kind in JOB_KINDS or any(str(name).partition(".")[0] == kind for name in described)


def _in_manifest(manifest: Mapping[str, Any]) -> Iterator[str]:
    kind, spec = manifest["kind"], manifest.get("spec") or {}
    if kind == "Topology" or (kind == "ResourceFlavor" and spec.get("topologyName")):
        yield "topology"
