"""Jobs of kinds that operators bring: labels and annotations as all have them, and the rules of each kind."""

import json

from tests.refusals.job import CLASS, ELASTIC, GATED, LONGEST, PREBUILT, QUEUE, SUBDOMAIN, P
from tests.refusals.row import ABSENT, Object, Row, Write, create, put, update

POD = {"containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}]}
TEMPLATE = {"template": {"spec": POD}}
CLUSTER = {"rayVersion": "2.46.0", "headGroupSpec": {"rayStartParams": {}, **TEMPLATE}}
GROUP = {"groupName": "w", "rayStartParams": {}, "replicas": 1, "minReplicas": 0, "maxReplicas": 1, **TEMPLATE}
SPECS: dict[str, Object] = {
    "TFJob": {"tfReplicaSpecs": {"Chief": {"replicas": 1, **TEMPLATE}, "Worker": {"replicas": 2, **TEMPLATE}}},
    "JAXJob": {"jaxReplicaSpecs": {"Worker": {"replicas": 2, **TEMPLATE}}},
    "MPIJob": {
        "mpiReplicaSpecs": {"Launcher": {"replicas": 1, **TEMPLATE}, "Worker": {"replicas": 2, **TEMPLATE}},
    },
    "JobSet": {
        "replicatedJobs": [
            {"name": "leader", "replicas": 1, "template": {"spec": TEMPLATE}},
            {"name": "w", "replicas": 2, "template": {"spec": TEMPLATE}},
        ]
    },
    "RayJob": {
        "entrypoint": "true",
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": {**CLUSTER, "workerGroupSpecs": [GROUP]},
    },
    "RayCluster": {**CLUSTER, "workerGroupSpecs": [GROUP]},
    "SparkApplication": {
        "type": "Python",
        "mode": "cluster",
        "sparkVersion": "3.5.3",
        "mainApplicationFile": "local:///a.py",
        "driver": {"cores": 1, "memory": "1g"},
        "executor": {"cores": 1, "memory": "1g", "instances": 2},
    },
    "Workflow": {
        "entrypoint": "main",
        "templates": [{"name": "main", "container": {"image": "none", "resources": {"requests": {"cpu": "1"}}}}],
    },
}
VERSIONS = {
    "TFJob": "kubeflow.org/v1",
    "JAXJob": "kubeflow.org/v1",
    "MPIJob": "kubeflow.org/v2beta1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "RayJob": "ray.io/v1",
    "RayCluster": "ray.io/v1",
    "SparkApplication": "sparkoperator.k8s.io/v1beta2",
    "Workflow": "argoproj.io/v1alpha1",
}
_HOLDS = dict.fromkeys(("TFJob", "JAXJob", "MPIJob"), "spec.runPolicy.suspend")
_FORBIDDEN = {"JAXJob": (PREBUILT, ELASTIC), "SparkApplication": (PREBUILT, ELASTIC), "Workflow": (PREBUILT, ELASTIC),
              "TFJob": (ELASTIC,), "MPIJob": (ELASTIC,), "JobSet": (ELASTIC,)}  # fmt: skip
_SAID = {PREBUILT: "Is not supported for", ELASTIC: "elastic job is not supported for"}


def any_job(kind: str, held: bool = True) -> Object:
    """One that names a queue."""
    labels = {f"{P}queue-name": "main"}
    metadata = {"name": "a", "namespace": "default", "labels": labels}
    spec = json.loads(json.dumps(SPECS[kind]))  # no two parts of it are the same object: they are changed one by one
    made = {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": spec}
    return put(made, {_HOLDS.get(kind, "spec.suspend"): held})


def _common(kind: str) -> list[Row]:
    job = any_job(kind)
    ranked, prebuilt = put(job, {CLASS: "low"}), put(job, {PREBUILT: "a"})
    once = "accepts: judges this of new jobs only" if kind in ("TFJob", "JAXJob") else ""

    def kept(rule: str, old: Object, at: str, value: object, words: str = "field is immutable") -> Row:
        """The change is fine while the job waits, and only then."""
        runs = put(old, {_HOLDS.get(kind, "spec.suspend"): False})
        return Row(rule, Write(put(old, {at: value}), old), Write(put(runs, {at: value}), runs), at, words, "webhook")

    return [
        create("the queue's name is a subdomain", job, QUEUE, "a.b", "No_Name", SUBDOMAIN, by="webhook"),
        update("the queue's new name is one, too", job, QUEUE, "a.b", "No_Name", SUBDOMAIN, by="webhook", kueue=once),
        create("the longest time is positive", job, LONGEST, "1", "0", "should be greater than 0", by="webhook"),
        create("the longest time is a number", job, LONGEST, "60", "1m", "strconv.Atoi", by="webhook"),
        create("admission gates differ", job, GATED, "a.io/b", "a.io/b,a.io/b", "duplicate gate name", by="webhook"),
        update("no admission gate comes later", job, GATED, "", "a.io/b", "cannot add admission gate", by="webhook"),
        kept("a running job stays in its queue", job, QUEUE, "other"),
        kept("a running job does not leave its queue", job, QUEUE, ABSENT),
        kept("a running job keeps its longest time", put(job, {LONGEST: "60"}), LONGEST, "90"),
        kept("a running job gets no first priority class", job, CLASS, "high", "cannot be added to a non-suspended"),
        update("a class changes but never goes", ranked, CLASS, "high", ABSENT, "cannot be removed", by="webhook"),
        *([] if PREBUILT in _FORBIDDEN.get(kind, ()) else
          [kept("a running job keeps its prebuilt workload", prebuilt, PREBUILT, "b")]),
        *(create(f"not of this kind: {at[16:-1]}", job, at, ABSENT if at == PREBUILT else "false", "true", _SAID[at],
                 by="webhook") for at in _FORBIDDEN.get(kind, ())),
    ]  # fmt: skip


def _near(kind: str, first: str, second: str) -> list[Row]:
    """`first` and `second`: where two pod templates lie, of one pod and of two, that can be placed as one."""
    job, group, level = any_job(kind), f"{P}podset-group-name", f"{P}podset-required-topology"
    slices = {f"{P}podset-slice-required-topology": "rack", f"{P}podset-slice-size": "2"}
    notes = f"{second}.metadata.annotations"
    good = put(job, {f"{first}.metadata.annotations": {group: "g", level: "rack"}, notes: {group: "g", level: "rack"}})
    rows = [
        create("a level is a label key", job, notes, {level: "a.b/c"}, {level: "a b"}, "name part must consist of",
               f"{notes}[{level}]", "webhook"),
        create("a slice has no more pods than there are", job, notes, slices,
               {**slices, f"{P}podset-slice-size": "3"}, "must not be greater than pod set count 2",
               f"{notes}[{P}podset-slice-size]", "webhook"),
    ]  # fmt: skip
    if kind == "TFJob":
        return rows
    return [
        *rows,
        create("a group has two pod sets", good, f"{first}.metadata.annotations", {group: "g", level: "rack"}, {},
               "can only define groups of exactly 2 pod sets, got: 1", f"{notes}[{group}]", "webhook"),
    ]  # fmt: skip


def _ray(kind: str, path: str) -> list[Row]:
    job = any_job(kind)
    head = {**GROUP, "groupName": "head"}
    return [
        create("no group of workers has the head's name", job, f"{path}.workerGroupSpecs", [GROUP], [head],
               "is reserved for the head group", f"{path}.workerGroupSpecs[0].groupName", "webhook"),
        create("a cluster does not resize itself", job, f"{path}.enableInTreeAutoscaling", False, True, "autoscaling",
               by="webhook"),
        create("a Workload can hold its groups", job, f"{path}.workerGroupSpecs",
               [{**GROUP, "groupName": f"w{at}"} for at in range(17)],
               [{**GROUP, "groupName": f"w{at}"} for at in range(18)], "must have at most 18 items", by="webhook"),
    ]  # fmt: skip


def _kinds_own() -> list[Row]:
    ray, spark = any_job("RayJob"), any_job("SparkApplication")
    shared = put(ray, {"spec.rayClusterSpec": ABSENT, "spec.clusterSelector": {"ray.io/cluster": "a"}})
    elsewhere = {"ray.io/cluster": "a"}
    return [
        create("a job gives its cluster back", ray, "spec.shutdownAfterJobFinishes", True, False,
               "a kueue managed job should delete the cluster after finishing", by="webhook"),
        create("a job has one cluster", ray, "spec.clusterSelector", ABSENT, elsewhere,
               "a kueue managed job should not use an existing cluster", by="webhook"),
        create("a job has some cluster", shared, "spec.clusterSelector", elsewhere, ABSENT,
               "rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector",
               "spec.rayClusterSpec", "webhook"),
        create("the driver runs in the cluster", spark, "spec.mode", "cluster", "client",
               "only Cluster mode is supported for a kueue managed job", by="webhook"),
        create("executors don't come and go", spark, "spec.dynamicAllocation", {"enabled": False}, {"enabled": True},
               "a kueue managed job can use dynamicAllocation only when", "spec.dynamicAllocation.enabled", "webhook"),
    ]  # fmt: skip


# Kinds that Kueue has.
ROWS: tuple[Row, ...] = (
    *(row for kind in SPECS if kind != "Workflow" for row in _common(kind)),
    *_near("TFJob", "spec.tfReplicaSpecs[Chief].template", "spec.tfReplicaSpecs[Worker].template"),
    *_near("MPIJob", "spec.mpiReplicaSpecs[Launcher].template", "spec.mpiReplicaSpecs[Worker].template"),
    *_near("JobSet", *(f"spec.replicatedJobs[{at}].template.spec.template" for at in (0, 1))),
    *_ray("RayJob", "spec.rayClusterSpec"),
    *_ray("RayCluster", "spec"),
    *_kinds_own(),
)
OWN_ROWS: tuple[Row, ...] = tuple(_common("Workflow"))
