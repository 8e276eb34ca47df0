"""Queues of other systems in a scenario: played as what `lockgate convert` makes of them.

Beside them stand what their users rely on: LocalQueues in all namespaces of the file, labels of KAI that count, and
Volcano's Job as a kind of job. How that is held is the scenario's own affair: on a cluster nothing holds such a job.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from admission.jobs import JOB_KINDS
from admission.migration import Surroundings, convert
from admission.migration.kai_shares import kai_shares
from admission.model.amounts import amount
from admission.readers.narrow import integer, mapping
from admission.stamping.foreign_hints import NAMESPACE_LABEL
from admission.stamping.foreign_hints.gang import minimum_of_ray
from admission.world.objects import Frozen, Object, kind_key
from admission.world.scenario.naming import Manifest, group_of

_SYSTEMS: Mapping[str, str] = {"scheduling.run.ai": "kai", "scheduling.volcano.sh": "volcano"}
_VOLCANO_JOB: Object = {
    "apiVersion": "lockgate.dev/v1alpha1",
    "kind": "JobKind",
    "metadata": {"name": "volcano-job"},
    "spec": {
        "kind": "Job.v1alpha1.batch.volcano.sh",
        "suspend": {"annotation": "lockgate.dev/held", "held": "true"},
        "podSets": [{"forEach": "spec.tasks", "name": "name", "count": "replicas", "template": "template"}],
        "priorityClassName": "spec.priorityClassName",
        "queue": "spec.queue",
        "finished": {
            "succeeded": {"path": "status.state.phase", "in": ["Completed"]},
            "failed": {"path": "status.state.phase", "in": ["Failed", "Aborted", "Terminated"]},
        },
    },
}


class ForeignQueues:
    """Those of a file. `demand`: what queues are asked for, as `set-request` says it."""

    def __init__(self, manifests: Sequence[Manifest]) -> None:
        self.demand: dict[str, Mapping[str, str]] = {}
        self._queues = [one for one in manifests if group_of(one) in _SYSTEMS and one["kind"] == "Queue"]
        self.names = {str(one["metadata"].get("name")) for one in self._queues}
        self._systems = list(dict.fromkeys(_SYSTEMS[group_of(one)] for one in self._queues))
        self._volcano_jobs = any(group_of(one) == "batch.volcano.sh" for one in manifests)
        self._namespaces = [one["metadata"]["name"] for one in manifests if one["kind"] == "Namespace"]
        self._total: dict[str, int] = {}

    def prepared(self, manifests: Sequence[Manifest]) -> Iterator[Manifest]:
        """What there is from the start, with what comes of the queues behind it."""
        for manifest in manifests:
            yield self._opened(manifest) if manifest["kind"] == "Namespace" and self._queues else manifest
        if self._volcano_jobs:
            yield _VOLCANO_JOB
        yield from self.converted()

    def resize(self, resources: Mapping[str, str]) -> None:
        """So much the cluster has in all, from now on."""
        self._total = {resource: amount(resource, quantity) for resource, quantity in resources.items()}

    def converted(self) -> Iterator[Object]:
        """Raises ValueError for queues that cannot be read."""
        around = Surroundings(self._total, self._namespaces)
        for system in self._systems:
            made = convert(system, self._queues, around)
            if made.faults:
                first = made.faults[0]
                about = "" if first.document < 0 else f"Queue {self._queues[first.document]['metadata'].get('name')}: "
                where = "".join(f"{part}." for part in first.path)[:-1]
                told = f"{where} {first.value!r}".strip()
                raise ValueError(f"{about}{told} {first.problem}: {first.remedy}")
            yield from made.objects

    def shares(self, resource: str) -> dict[str, int]:
        """What KAI would let its queues use, in units of the resource."""
        tree = convert("kai", self._queues, Surroundings(self._total)).tree
        asked = {name: amount(resource, said[resource]) for name, said in self.demand.items() if resource in said}
        return kai_shares(tree.queues, resource, self._total.get(resource, 0), asked)

    def _opened(self, namespace: Manifest) -> Manifest:
        """The words of these systems count in it, unless it says which do."""
        metadata = namespace["metadata"]
        labels = {NAMESPACE_LABEL: ".".join(self._systems), **(metadata.get("labels") or {})}
        return {**namespace, "metadata": {**metadata, "labels": labels}}


def gang_of(manifest: Frozen) -> dict[str, int]:
    """By group of pods, how many of a job must start together; empty for what is no job."""
    kind = kind_key(manifest)
    spec = mapping(manifest.get("spec"))
    if kind in ("RayCluster", "RayJob"):
        return minimum_of_ray(spec if kind == "RayCluster" else mapping(spec.get("rayClusterSpec")))
    descriptor = JOB_KINDS.get(kind)
    pod_sets: list[dict[str, Any]] = [] if descriptor is None else descriptor.pod_sets(manifest)
    return {str(one["name"]): integer(one.get("minCount"), integer(one.get("count"))) for one in pod_sets}


def runs(manifest: Frozen) -> bool:
    """Whether a pod of the job may start."""
    descriptor = JOB_KINDS.get(kind_key(manifest))
    return descriptor is not None and not descriptor.hold.holds(manifest)
