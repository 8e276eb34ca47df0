"""What the schemas of the job operators would refuse, of the fields that a decision reads: the operators' own kinds are
no kinds of ours, and everything else in them passes untouched."""

from collections.abc import Iterator, Mapping
from typing import Any

from controller.cli.shapes import JOB, METADATA, TEMPLATE, Fault, Shape, every, fields, table, text, truth, whole

_RUN_POLICY = fields({"suspend": truth, "schedulingPolicy": fields({"priorityClass": text})})
_REPLICAS = table(fields({"replicas": whole(), "template": TEMPLATE}))


def _training_job(replicas: str) -> Shape:
    return _job({"runPolicy": _RUN_POLICY, replicas: _REPLICAS})


def _job(spec: Mapping[str, Shape]) -> Shape:
    return fields({"metadata": METADATA, "spec": fields(spec)}, ("spec",))


_WORKERS = fields(
    {
        "groupName": text,
        "replicas": whole(),
        "minReplicas": whole(),
        "maxReplicas": whole(),
        "numOfHosts": whole(1),
        "template": TEMPLATE,
    },
    ("groupName",),
)
_CLUSTER: Mapping[str, Shape] = {
    "suspend": truth,
    "enableInTreeAutoscaling": truth,
    "headGroupSpec": fields({"template": TEMPLATE}),
    "workerGroupSpecs": every(_WORKERS),
}
_REPLICATED_JOB = fields({"name": text, "replicas": whole(), "template": fields({"spec": JOB})}, ("name",))
_ROLE: Mapping[str, Shape] = {"cores": whole(), "memory": text, "coreRequest": text, "coreLimit": text}

JOB_SHAPES: Mapping[str, Shape] = {
    "TFJob": _training_job("tfReplicaSpecs"),
    "PyTorchJob": _training_job("pytorchReplicaSpecs"),
    "XGBoostJob": _training_job("xgbReplicaSpecs"),
    "PaddleJob": _training_job("paddleReplicaSpecs"),
    "JAXJob": _training_job("jaxReplicaSpecs"),
    "MPIJob": _training_job("mpiReplicaSpecs"),
    "RayCluster": _job(_CLUSTER),
    "RayJob": _job(
        {
            "suspend": truth,
            "shutdownAfterJobFinishes": truth,
            "submissionMode": text,
            "rayClusterSpec": fields(_CLUSTER),
            "submitterPodTemplate": TEMPLATE,
        }
    ),
    "SparkApplication": _job(
        {
            "suspend": truth,
            "mode": text,
            "driver": fields(_ROLE),
            "executor": fields({**_ROLE, "instances": whole()}),
        }
    ),
    "JobSet": _job({"suspend": truth, "replicatedJobs": every(_REPLICATED_JOB)}),
    "Workflow": _job({"suspend": truth}),
}


def job_faults(kind: str, manifest: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with a manifest of one of these kinds, as far as its shape goes."""
    return JOB_SHAPES[kind](manifest, ())
