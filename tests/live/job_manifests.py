"""A job of every kind, as people write them, with something of its own wherever an admission writes as well."""

from copy import deepcopy
from typing import Any, NamedTuple

from admission.jobs.places import Path
from tests.live.site import NAMESPACE, QUEUE

Object = dict[str, Any]

OWN_SELECTOR = {"disk": "ssd"}
OWN_TOLERATION = {"key": "spot", "operator": "Exists"}
OWN_LABELS = {"team": "a"}
OWN_ANNOTATIONS = {"note": "mine"}


class Pods(NamedTuple):
    """Pods of one sort, and where in the manifest their labels, annotations, selectors and tolerations are told."""

    name: str
    number: int
    metadata: Path
    spec: Path


class Sample(NamedTuple):
    kind: str
    manifest: Object
    pods: tuple[Pods, ...]


def _pod(cpu: str = "1", name: str = "main") -> Object:
    env = [{"name": "MODE", "value": "fast"}]
    resources = {"requests": {"cpu": cpu, "memory": "0.5Gi"}, "limits": {"memory": "1Gi"}}
    return {
        "containers": [{"name": name, "image": "none", "env": env, "resources": resources}],
        "nodeSelector": OWN_SELECTOR,
        "tolerations": [OWN_TOLERATION],
    }


def _template(cpu: str = "1", name: str = "main", **spec: Any) -> Object:
    return {"metadata": {"labels": OWN_LABELS, "annotations": OWN_ANNOTATIONS}, "spec": {**_pod(cpu, name), **spec}}


def _manifest(api_version: str, kind: str, spec: Object) -> Object:
    metadata = {
        "name": f"a-{kind.lower()}",
        "namespace": NAMESPACE,
        "labels": {QUEUE: kind.lower(), "app": "trainer"},
        "annotations": {"purpose": "weekly"},
    }
    return deepcopy({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec})


def _told(name: str, count: int, *at: str | int) -> Pods:
    return Pods(name, count, ("spec", *at, "metadata"), ("spec", *at, "spec"))


def _training(kind: str, field: str, version: str = "v1", container: str = "main", **replicas: int) -> Sample:
    """`container`: the name that the operator wants it to have."""
    types = {
        name: {"replicas": count, "restartPolicy": "OnFailure", "template": _template("500m", container)}
        for name, count in replicas.items()
    }
    policy = {"cleanPodPolicy": "None", "backoffLimit": 2}
    manifest = _manifest(f"kubeflow.org/{version}", kind, {"runPolicy": policy, field: types})
    pods = [_told(name.lower(), count, field, name, "template") for name, count in replicas.items()]
    return Sample(kind, manifest, tuple(pods))


def _ray_cluster() -> Object:
    worker = {"rayStartParams": {}, "minReplicas": 0, "maxReplicas": 5}
    return {
        "rayVersion": "2.46.0",
        "headGroupSpec": {"rayStartParams": {"dashboard-host": "0.0.0.0"}, "template": _template()},
        "workerGroupSpecs": [
            {**worker, "groupName": "small", "replicas": 2, "template": _template()},
            {**worker, "groupName": "large", "replicas": 1, "numOfHosts": 2, "template": _template("2")},
        ],
    }


def _ray_pods(*at: str) -> tuple[Pods, ...]:
    return (
        _told("head", 1, *at, "headGroupSpec", "template"),
        _told("small", 2, *at, "workerGroupSpecs", 0, "template"),
        _told("large", 2, *at, "workerGroupSpecs", 1, "template"),
    )


def _job() -> Sample:
    spec = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": _template(restartPolicy="Never")}
    return Sample("Job", _manifest("batch/v1", "Job", spec), (_told("main", 2, "template"),))


def _job_set() -> Sample:
    jobs: list[Object] = [
        {"name": "driver", "template": {"spec": {"backoffLimit": 0, "template": _template()}}},
        {
            "name": "workers",
            "replicas": 2,
            "template": {"spec": {"parallelism": 2, "completions": 2, "template": _template("500m")}},
        },
    ]
    spec = {"failurePolicy": {"maxRestarts": 1}, "replicatedJobs": jobs}
    places = [("replicatedJobs", at, "template", "spec", "template") for at in range(2)]
    pods = (_told("driver", 1, *places[0]), _told("workers", 4, *places[1]))
    return Sample("JobSet", _manifest("jobset.x-k8s.io/v1alpha2", "JobSet", spec), pods)


def _ray_job() -> Sample:
    submitter = _template("500m", "submit", restartPolicy="Never")
    spec = {
        "entrypoint": "python train.py",
        "shutdownAfterJobFinishes": True,
        "runtimeEnvYAML": "pip: [torch]\n",
        "submitterPodTemplate": submitter,
        "rayClusterSpec": _ray_cluster(),
    }
    pods = (*_ray_pods("rayClusterSpec"), _told("submitter", 1, "submitterPodTemplate"))
    return Sample("RayJob", _manifest("ray.io/v1", "RayJob", spec), pods)


def _spark_application() -> Sample:
    said: Object = {"labels": OWN_LABELS, "annotations": OWN_ANNOTATIONS}
    said |= {"nodeSelector": OWN_SELECTOR, "tolerations": [OWN_TOLERATION]}
    role = {"cores": 1, "memory": "512m", **said}
    spec = {
        "type": "Python",
        "mode": "cluster",
        "sparkVersion": "3.5.3",
        "mainApplicationFile": "local:///opt/etl.py",
        "sparkConf": {"spark.eventLog.enabled": "false"},
        "driver": {**role, "serviceAccount": "spark"},
        "executor": {**role, "instances": 2},
    }
    manifest = _manifest("sparkoperator.k8s.io/v1beta2", "SparkApplication", spec)
    roles = (("driver", 1), ("executor", 2))
    return Sample("SparkApplication", manifest, tuple(Pods(one, n, ("spec", one), ("spec", one)) for one, n in roles))


def _workflow() -> Sample:
    container = _pod()["containers"][0]
    own = {"nodeSelector": OWN_SELECTOR, "tolerations": [OWN_TOLERATION]}
    templates = [
        {"name": "all", "steps": [[{"name": "a", "template": "one"}], [{"name": "b", "template": "other"}]]},
        {"name": "one", "container": container, **own},
        {"name": "other", "container": container},
    ]
    metadata = {"labels": OWN_LABELS, "annotations": OWN_ANNOTATIONS}
    spec = {"entrypoint": "all", "podMetadata": metadata, "templates": templates, **own}
    manifest = _manifest("argoproj.io/v1alpha1", "Workflow", spec)
    at: Path = ("spec", "podMetadata")
    # For all of its pods one pod set; a template with a selector of its own needs the admission's there as well.
    return Sample("Workflow", manifest, (Pods("main", 1, at, ("spec",)), Pods("main", 1, at, ("spec", "templates", 1))))


SAMPLES = {
    sample.kind: sample
    for sample in (
        _job(),
        _job_set(),
        _training("TFJob", "tfReplicaSpecs", container="tensorflow", Chief=1, PS=2, Worker=3),
        _training("PyTorchJob", "pytorchReplicaSpecs", container="pytorch", Master=1, Worker=2),
        _training("XGBoostJob", "xgbReplicaSpecs", container="xgboost", Master=1, Worker=2),
        _training("PaddleJob", "paddleReplicaSpecs", container="paddle", Master=1, Worker=2),
        _training("JAXJob", "jaxReplicaSpecs", container="jax", Worker=3),
        _training("MPIJob", "mpiReplicaSpecs", "v2beta1", Launcher=1, Worker=2),
        _ray_job(),
        Sample("RayCluster", _manifest("ray.io/v1", "RayCluster", _ray_cluster()), _ray_pods()),
        _spark_application(),
        _workflow(),
    )
}


def a_job(kind: str, name: str = "", queue: str | None = "", **metadata: Any) -> Object:
    """One of its own. `queue`: None: names none."""
    made: Object = deepcopy(SAMPLES[kind].manifest)
    made["metadata"] |= {"name": name or made["metadata"]["name"], **metadata}
    if queue is None:
        del made["metadata"]["labels"][QUEUE]
    elif queue:
        made["metadata"]["labels"][QUEUE] = queue
    return made
