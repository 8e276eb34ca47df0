"""A cluster with operators' kinds on which the product runs as it is installed: two processes with the rights of each.

People's hands are the real kubectl; operators, which no test has, are played in the words that they have in memory.
"""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from admission.jobs import JOB_KINDS
from admission.jobs.hold import Hold
from admission.model.kinds import KINDS, kind_of
from admission.world.metadata import separate_status
from admission.world.objects import condition, holds, kind_key
from admission.world.operators import OPERATORS
from controller.cli import roles
from hack.cluster import Api, Cluster
from hack.cluster.wait import until
from hack.cluster.wheels import KUBECTL, command
from hack.job_crds import install_job_crds
from tests.live.controllers import QUICK_LEASE, controller
from tests.live.webhook_process import account, webhooks

Object = dict[str, Any]
NAMESPACE = "lab"
API = "kueue.x-k8s.io/v1beta2"
QUEUE = "kueue.x-k8s.io/queue-name"
NOW = "2026-01-02T03:04:05Z"
WORKLOADS = KINDS["Workload"].path(NAMESPACE)
PATIENCE = 120.0  # seconds; a change takes well below one, on a machine that has nothing else to do
TOLERATION = {"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}
QUOTA = "20"  # CPUs of each queue


class Site:
    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        self.api: Api = cluster.api()

    def kubectl(self, *arguments: str, given: Object | None = None) -> str:
        """What it prints. Raises CalledProcessError, and shows what it said."""
        argv = [str(command(KUBECTL)), f"--kubeconfig={self.cluster.kubeconfig}", f"--cache-dir={self.folder}"]
        text = None if given is None else json.dumps(given)
        done = subprocess.run(
            [*argv, *arguments], input=text, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode:
            error = subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
            error.add_note(done.stderr)
            raise error
        return done.stdout

    def apply(self, manifest: Object) -> "Job":
        """A job, by `kubectl apply`."""
        self.kubectl("apply", "-f", "-", given=manifest)
        return self.job(manifest)

    def create(self, manifest: Object) -> "Job":
        kind = kind_of(kind_key(manifest))
        return self.job(self.api.create(kind.path(manifest["metadata"]["namespace"]), manifest))

    def job(self, manifest: Object) -> "Job":
        """That is there already."""
        return BatchJob(self, manifest) if manifest["kind"] == "Job" else Job(self, manifest)

    def queue(self, name: str, **spec: Any) -> None:
        """A ClusterQueue, and a LocalQueue of the same name."""
        quotas = [{"name": "cpu", "nominalQuota": QUOTA}, {"name": "memory", "nominalQuota": "100Gi"}]
        flavors = [{"name": "std", "resources": quotas}]
        groups = [{"coveredResources": ["cpu", "memory"], "flavors": flavors}]
        preemption = {"withinClusterQueue": "LowerPriority"}
        spec = {"namespaceSelector": {}, "resourceGroups": groups, "preemption": preemption, **spec}
        self.api.apply({"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec})
        metadata = {"name": name, "namespace": NAMESPACE}
        self.api.apply({"apiVersion": API, "kind": "LocalQueue", "metadata": metadata, "spec": {"clusterQueue": name}})

    def reserved(self, queue: str) -> int:
        """How many Workloads hold quota of a ClusterQueue: counted, as its own status comes some seconds later."""
        found = self.api.get(KINDS["Workload"].path())["items"]
        return sum(1 for one in found if holds_quota_of(one, queue))

    def occupy(self, queue: str) -> Object:
        """A Workload that needs all of a queue's CPUs, more important than any job."""
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": QUOTA}}}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        sets = [{"name": "main", "count": 1, "template": template}]
        return self.api.create(
            WORKLOADS,
            {
                "apiVersion": API,
                "kind": "Workload",
                "metadata": {"generateName": "occupant-", "namespace": NAMESPACE},
                "spec": {"queueName": queue, "priority": 1000, "podSets": sets},
            },
        )

    def now(self, workload: Object) -> Object:
        return self.api.get(f"{WORKLOADS}/{workload['metadata']['name']}")


def holds_quota_of(workload: Object, queue: str) -> bool:
    if workload.get("status", {}).get("admission", {}).get("clusterQueue") != queue:
        return False
    return holds(workload, "QuotaReserved") and not holds(workload, "Finished")


class Job:
    """A job of any kind, as the API server has it, and the Workload that it owns."""

    def __init__(self, site: Site, manifest: Object, hold: Hold | None = None) -> None:
        """`hold`: of a kind that is not built in."""
        self._site = site
        self.kind, self.name = kind_key(manifest), manifest["metadata"]["name"]
        self.namespace = manifest["metadata"]["namespace"]
        self.path = kind_of(self.kind).path(self.namespace, self.name)
        self.uid = self.now()["metadata"]["uid"]
        self._hold = JOB_KINDS[self.kind].hold if hold is None else hold

    def now(self) -> Object:
        return self._site.api.get(self.path)

    def exists(self) -> bool:
        return self._site.api.answers(self.path)

    @property
    def held(self) -> bool:
        return self._hold.holds(self.now())

    def as_written(self) -> Object:
        """All of it that is its author's: what a job must have back when it is stopped."""
        found = self.now()
        kept = ("name", "labels", "annotations", "ownerReferences", "finalizers")
        return {"spec": found["spec"], "metadata": {key: found["metadata"].get(key) for key in kept}}

    def workloads(self) -> list[Object]:
        found = self._site.api.get(kind_of("Workload").path(self.namespace))["items"]
        return [
            one
            for one in found
            if any(owner["uid"] == self.uid for owner in one["metadata"].get("ownerReferences", ()))
        ]

    def workload(self) -> Object:
        """The only one."""
        (mine,) = self.workloads()
        return mine

    def has(self, type: str, status: str = "True") -> bool:
        """Whether its Workload has this condition."""
        found = [condition(one, type) for one in self.workloads()]
        return [one["status"] for one in found if one is not None] == [status]

    def says(self, status: Object | None) -> None:
        """As its operator."""
        self._site.api.merge(f"{self.path}/status" if separate_status(self.kind) else self.path, {"status": status})

    def runs(self) -> None:
        self.says(OPERATORS[self.kind].running(self.now(), NOW))

    def pods_are_gone(self) -> None:
        self.says(OPERATORS[self.kind].stopped(self.now(), NOW))

    def comes_to_its_end(self) -> bool:
        """False: jobs of this kind have none."""
        end = OPERATORS[self.kind].finished(self.now(), NOW)
        if end is None:
            self._site.api.delete(self.path)
            return False
        self.says(end)
        return True

    def soon(self, *, held: bool) -> None:
        until(lambda: self.held is held, PATIENCE, f"{self.kind} {self.name} {'held' if held else 'started'}")


class BatchJob(Job):
    """Its operator is the cluster's own; what is played are its pods, which no node takes."""

    def runs(self) -> None:
        until(lambda: len(self._pods()) == self.now()["spec"]["parallelism"], PATIENCE, "all pods of the Job")
        self._pods_say({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})

    def pods_are_gone(self) -> None:
        until(lambda: not self._pods(), PATIENCE, "the pods of the Job gone")

    def comes_to_its_end(self) -> bool:
        until(lambda: self.now().get("status", {}).get("ready") == len(self._pods()), PATIENCE, "the pods known")
        self._pods_say({"phase": "Succeeded", "conditions": [{"type": "Ready", "status": "False"}]})
        return True

    def _pods(self) -> list[Object]:
        found: list[Object] = self._site.api.get(
            f"{KINDS['Pod'].path(self.namespace)}?labelSelector=batch.kubernetes.io/job-name={self.name}"
        )["items"]
        return found

    def _pods_say(self, status: Object) -> None:
        for pod in self._pods():
            self._site.api.merge(
                KINDS["Pod"].path(self.namespace, pod["metadata"]["name"], "status"), {"status": status}
            )


def soon(look: Callable[[], bool], what: str) -> None:
    until(look, PATIENCE, what)


def namespace(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


@contextmanager
def installed(folder: Path, kinds: Sequence[str], configuration: str = "") -> Iterator[Site]:
    """`kinds`: those whose CRDs the cluster has; `configuration`: of both processes, as its file has it."""
    flags: tuple[str, ...] = ()
    if configuration:
        file = folder / "config.yaml"
        file.write_text(configuration)
        flags = (f"--config={file}",)
    with Cluster.start() as cluster:
        install_job_crds(cluster, [kind for kind in kinds if kind != "Job"])
        with webhooks(cluster, folder / "webhooks.log", *flags):
            mine = f"--kubeconfig={cluster.kubeconfig_for(*account(cluster, roles.CONTROLLER))}"
            with controller(cluster, folder / "controller.log", mine, *QUICK_LEASE, *flags) as running:
                running.is_soon("leading")
                site = Site(cluster, folder)
                site.api.apply(namespace(NAMESPACE))
                spec = {"nodeLabels": {"pool": "std"}, "tolerations": [TOLERATION]}
                site.api.apply({"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "std"}, "spec": spec})
                yield site
                _nothing_went_wrong(folder)


def _nothing_went_wrong(folder: Path) -> None:
    for name in ("webhooks", "controller"):
        said = (folder / f"{name}.log").read_text()
        assert "Traceback" not in said, said[-5000:]
