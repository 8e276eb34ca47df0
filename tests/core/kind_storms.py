"""Random days on a cluster where jobs are of many kinds and make other jobs: in whose quota they run, and when."""

from collections.abc import Callable
from typing import Any

from admission.jobs import JOB_KINDS
from admission.model.configuration import DEFAULTS, Configuration
from admission.model.kinds import Ref
from admission.world.faults import Faults
from admission.world.objects import ref_of
from tests.core.storms import LARGEST, Day, pods

QUEUE, CLASS = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"


def _cluster(workers: int) -> dict[str, Any]:
    group = {"groupName": "w", "replicas": workers, "template": pods(1)}
    return {"headGroupSpec": {"template": pods(1)}, "workerGroupSpecs": [group]}


def _ray_job(pods_: int) -> dict[str, Any]:
    told = {"shutdownAfterJobFinishes": True, "rayClusterSpec": _cluster(max(pods_ - 2, 0))}
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "spec": {**told, "submitterPodTemplate": pods(1)}}


def _ray_cluster(pods_: int) -> dict[str, Any]:
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": _cluster(pods_ - 1)}


def _job_set(pods_: int) -> dict[str, Any]:
    one = {"name": "w", "replicas": pods_, "template": {"spec": {"template": pods(1)}}}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {"replicatedJobs": [one]}}


def _pytorch_job(pods_: int) -> dict[str, Any]:
    replicas = {"Master": {"template": pods(1)}, "Worker": {"replicas": pods_ - 1, "template": pods(1)}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": replicas}}


def _mpi_job(pods_: int) -> dict[str, Any]:
    replicas = {"Launcher": {"template": pods(1)}, "Worker": {"replicas": pods_ - 1, "template": pods(1)}}
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "spec": {"mpiReplicaSpecs": replicas}}


def _workflow(pods_: int) -> dict[str, Any]:
    steps = [[{"name": f"s{number}", "template": "work"} for number in range(pods_)]]
    templates = [{"name": "all", "steps": steps}, {"name": "work", "container": pods(1)["spec"]["containers"][0]}]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "spec": {"entrypoint": "all", "templates": templates},
    }


KINDS: tuple[Callable[[int], dict[str, Any]], ...] = (
    _ray_job,
    _ray_cluster,
    _job_set,
    _pytorch_job,
    _mpi_job,
    _workflow,
)


class KindDay(Day):
    """As Day, with jobs of many kinds, children that come late and owners that are none."""

    def __init__(self, faults: Faults, configuration: Configuration = DEFAULTS) -> None:
        super().__init__(faults, configuration=configuration)

    @property
    def _actions(self) -> tuple[tuple[float, Callable[[], None]], ...]:
        return (
            (0.32, self._create_kind),
            (0.10, self._create_child),
            (0.08, self._create_job),
            (0.08, self._create_workload),
            (0.22, self._finish_some),
            (0.06, self._delete_some),
            (0.04, self._edit_quota),
            (0.05, self._hold_or_release),
            (0.05, self._deactivate_or_back),
        )

    def _create_kind(self) -> None:
        self._count += 1
        manifest = self.random.choice(KINDS)(self.random.randint(2, LARGEST))
        labels = {QUEUE: self.random.choice("abc")}
        if self.random.random() < 0.5:
            labels[CLASS] = self.random.choice(("low", "high"))
        self._make({**manifest, "metadata": {"name": f"k{self._count}", "namespace": "lab", "labels": labels}})

    def _create_child(self) -> None:
        """Somebody's operator makes a Job for a job, in its own time; sometimes for one that is gone."""
        owners = [job for kind in JOB_KINDS if kind != "Job" for job in self.world.api.scan(kind)]
        if not owners:
            return
        self._count += 1
        owner = self.random.choice(owners)
        uid = owner["metadata"]["uid"] if self.random.random() < 0.8 else "an-earlier-one"
        named = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        # One that belongs to nobody and names no queue would wait for good where all jobs are managed.
        named_queue = self.random.random() < 0.5 or uid == "an-earlier-one"
        labels = {QUEUE: self.random.choice("abc")} if named_queue else {}
        meta = {"name": f"c{self._count}", "namespace": "lab", "labels": labels}
        reference = {**named, "uid": uid, "controller": True}
        self._make(
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {**meta, "ownerReferences": [reference]},
                "spec": {"template": pods(1)},
            }
        )

    def _make(self, manifest: dict[str, Any]) -> None:
        answer = self.world.api.create(manifest)
        assert answer.ok, answer.message

    def _end(self, ref: Ref) -> None:
        if ref.kind == "RayCluster":  # it never ends by itself
            self.world.api.delete(ref)
        else:
            super()._end(ref)

    def left_over(self) -> list[str]:
        """Jobs that run in the evening though nobody is queued for them any more."""
        return [
            str(ref_of(job))
            for kind in JOB_KINDS
            for job in self.world.api.scan(kind)
            if JOB_KINDS[kind].read(job).end is None and not JOB_KINDS[kind].hold.holds(job)
        ]
