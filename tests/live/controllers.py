"""Controllers as real processes on a real control plane, and the few objects that their tests speak of."""

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from admission.api import crd
from admission.model import amounts
from hack.cluster import Cluster, etcd
from hack.cluster.wait import until

ROOT = Path(__file__).parents[2]
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
PATIENCE = 60.0
# Short, so that a fail-over takes a quarter of a minute (most of it the wait for the old leader's last request).
QUICK_LEASE = (
    "--leader-elect-lease-duration=3s",
    "--leader-elect-renew-deadline=2s",
    "--leader-elect-retry-period=500ms",
)


def install_crds(cluster: Cluster) -> None:
    """What `lockgate crds` prints, applied."""
    for definition in crd.definitions():
        cluster.api().apply(definition)


class Controller:
    """One replica of `lockgate controller`."""

    def __init__(self, cluster: Cluster, log: Path, flags: Sequence[str] = ()) -> None:
        self.log = log
        self._health = f"127.0.0.1:{_free_port()}"
        command = [sys.executable, "-m", "controller.cli", "controller", f"--kubeconfig={cluster.kubeconfig}"]
        command += ["--metrics-bind=0", "--visibility-bind=0", f"--health-bind={self._health}", *flags]
        with log.open("ab") as output:
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)

    def readiness(self) -> str:
        """What /readyz says: `leading`, `standing by`, or what it waits for; empty while nobody answers."""
        try:
            with urllib.request.urlopen(f"http://{self._health}/readyz", timeout=5) as answer:
                text: str = answer.read().decode()
        except urllib.error.HTTPError as refusal:
            with refusal:
                text = refusal.read().decode()
        except OSError:
            assert self._process.poll() is None, self.log.read_text()[-3000:]
            return ""
        return text.strip()

    def is_soon(self, readiness: str) -> None:
        until(lambda: self.readiness() == readiness, PATIENCE, f"{readiness}; it says {self.readiness()!r}")

    def kill(self) -> None:
        """As the machine would: no time for anything."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """As Kubernetes would: the exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)


@contextmanager
def controller(cluster: Cluster, log: Path, *flags: str) -> Iterator[Controller]:
    """A replica that ends with the block."""
    running = Controller(cluster, log, flags)
    try:
        yield running
    finally:
        running.stop()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


# --- objects


def flavor(name: str = "default") -> dict[str, Any]:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": {}}


def cluster_queue(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    quota = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [quota]}]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": {"namespaceSelector": {}, "resourceGroups": groups, **spec},
    }


def local_queue(name: str) -> dict[str, Any]:
    """In the default namespace, for the ClusterQueue of the same name."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterQueue": name},
    }


def priority(name: str, value: int) -> dict[str, Any]:
    metadata = {"name": name}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": metadata,
        "value": value,
    }


def job(name: str, queue: str, cpu: str, *, runtime: str = "", priority: str = "", held: bool = True) -> dict[str, Any]:
    """A Job of one pod that runs so long on KWOK's nodes; for ever without `runtime`."""
    labels = {"kueue.x-k8s.io/queue-name": queue} | ({"kueue.x-k8s.io/priority-class": priority} if priority else {})
    template = {
        "metadata": {"annotations": {"lockgate.dev/runtime": runtime} if runtime else {}},
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}],
        },
    }
    spec = {"suspend": held, "parallelism": 1, "completions": 1, "backoffLimit": 0, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels}, "spec": spec}


class Seen:
    """What the API server says of the Jobs and queues of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.api = cluster.api()

    def state(self, name: str) -> str:
        """held | started | running | finished."""
        found = self.api.get(f"{JOBS}/{name}")
        if any(one["type"] == "Complete" and one["status"] == "True" for one in found["status"].get("conditions", [])):
            return "finished"
        if found["spec"]["suspend"]:
            return "held"
        return "running" if found["status"].get("ready") else "started"

    def is_soon(self, name: str, *states: str) -> None:
        until(lambda: self.state(name) in states, PATIENCE, f"{name} {' or '.join(states)}; is {self.state(name)}")

    def workload(self, job: str) -> dict[str, Any]:
        """The Workload of a Job; {} before there is one."""
        uid = self.api.get(f"{JOBS}/{job}")["metadata"]["uid"]
        for one in self.api.get(f"{KUEUE}/namespaces/default/workloads")["items"]:
            if any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences", [])):
                found: dict[str, Any] = one
                return found
        return {}

    def condition(self, job: str, type: str) -> tuple[str, str]:
        """Status and reason of a condition of the Job's Workload."""
        for one in self.workload(job).get("status", {}).get("conditions", []):
            if one["type"] == type:
                return one["status"], one["reason"]
        return "", ""

    def queue(self, name: str) -> dict[str, Any]:
        status: dict[str, Any] = self.api.get(f"{KUEUE}/clusterqueues/{name}").get("status", {})
        return status


def most_reserved(cluster: Cluster, queue: str, start: int) -> int:
    """The most cpu (milli) that Workloads of a ClusterQueue held together at any revision of etcd since `start`."""
    held: dict[str, int] = {}
    most = 0
    for event in etcd.history(cluster.etcd_endpoint, "/registry/kueue.x-k8s.io/workloads/", start):
        held[event.key] = 0 if event.deleted else _reserved(event.json, queue)
        most = max(most, sum(held.values()))
    return most


def _reserved(workload: dict[str, Any], queue: str) -> int:
    status = workload.get("status", {})
    conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
    admission = status.get("admission") or {}
    if conditions.get("QuotaReserved") != "True" or conditions.get("Finished") == "True":
        return 0
    if admission.get("clusterQueue") != queue:
        return 0
    return sum(amounts.amount("cpu", one["resourceUsage"]["cpu"]) for one in admission["podSetAssignments"])
