"""Fields of jobs that look misspelt: a real API server drops them with a warning, and the job runs as if they were not
there.

They are remarked on and never refused: a newer Kubernetes or operator may have them. Of Kubernetes' own objects all
names are known; of an operator's kind those that a decision reads, so that only what is nearly one of these stands out.
"""

from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher, get_close_matches
from typing import Any, NamedTuple

from controller.cli.pod_fields import JOB_SPEC, METADATA, TEMPLATE, Names, each, names
from controller.kit.documents import Path, dotted

# How alike two names must be: of the other names that the operators' CRDs have, none is this near to one that is read.
_ALIKE = 0.8
_LONGEST = 64  # characters; comparing takes its time, and no field has a longer name


class Oddity(NamedTuple):
    """`field` is not known where it is; `meant`: "" when nothing is like it."""

    path: Path
    meant: str

    def __str__(self) -> str:
        meant = f": did you mean {self.meant}?" if self.meant else ""
        return f'the unknown field "{dotted(self.path)}"{meant}'


def some(*plain: str, **deeper: Names) -> Names:
    """An object of which only these fields are known."""
    return {**names(*plain, **deeper), "more": True}


_REPLICAS: Names = {"additionalProperties": some("replicas", "restartPolicy", template=TEMPLATE)}
_RUN_POLICY = some(
    *("suspend", "cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "managedBy"),
    schedulingPolicy=some("priorityClass", "minAvailable", "queue", "minResources"),
)


def _training_job(replicas: str) -> Names:
    return some(runPolicy=_RUN_POLICY, **{replicas: _REPLICAS})


_HEAD = some("rayStartParams", template=TEMPLATE)
_WORKERS = some(
    *("groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts", "rayStartParams"), template=TEMPLATE
)
_RAY_CLUSTER = some(
    *("suspend", "enableInTreeAutoscaling", "rayVersion", "managedBy", "gcsFaultToleranceOptions"),
    autoscalerOptions=some("resources", "idleTimeoutSeconds", "version"),
    headGroupSpec=_HEAD,
    workerGroupSpecs=each(_WORKERS),
)
_SPARK_ROLE = ("cores", "coreRequest", "coreLimit", "memory", "memoryOverhead", "memoryLimit", "gpu", "sidecars")
_SPARK = some(
    *("type", "mode", "suspend", "sparkConf", "sparkVersion", "memoryOverheadFactor", "mainApplicationFile"),
    *("batchScheduler", "batchSchedulerOptions", "restartPolicy"),
    dynamicAllocation=some("enabled", "initialExecutors", "minExecutors", "maxExecutors"),
    driver=some(*_SPARK_ROLE, "nodeSelector", "tolerations", template=TEMPLATE),
    executor=some(*_SPARK_ROLE, "instances", "nodeSelector", "tolerations", template=TEMPLATE),
)
_SPECS: Mapping[str, Names] = {
    "Job": JOB_SPEC,
    "Workload": some(podSets=each(some(template=TEMPLATE))),
    "TFJob": _training_job("tfReplicaSpecs"),
    "PyTorchJob": _training_job("pytorchReplicaSpecs"),
    "XGBoostJob": _training_job("xgbReplicaSpecs"),
    "PaddleJob": _training_job("paddleReplicaSpecs"),
    "JAXJob": _training_job("jaxReplicaSpecs"),
    "MPIJob": _training_job("mpiReplicaSpecs"),
    "RayCluster": _RAY_CLUSTER,
    "RayJob": some(
        *("suspend", "entrypoint", "shutdownAfterJobFinishes", "submissionMode", "clusterSelector"),
        *("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "submitterConfig"),
        rayClusterSpec=_RAY_CLUSTER,
        submitterPodTemplate=TEMPLATE,
    ),
    "SparkApplication": _SPARK,
    "JobSet": some(
        *("suspend", "successPolicy", "failurePolicy", "startupPolicy", "ttlSecondsAfterFinished", "managedBy"),
        replicatedJobs=each(
            some("name", "groupName", "replicas", "dependsOn", template=names(metadata=METADATA, spec=JOB_SPEC))
        ),
    ),
    "Workflow": some(
        *("suspend", "entrypoint", "templates", "templateDefaults", "workflowTemplateRef", "arguments", "onExit"),
        *("parallelism", "podPriorityClassName", "nodeSelector", "tolerations", "podMetadata", "podSpecPatch"),
    ),
}


class Oddities:
    """What is odd in many objects, told once for all of a kind that have it."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, Path, str], str] = {}
        self._others: dict[tuple[str, Path, str], int] = {}

    def look_at(self, kind: str, content: Mapping[str, Any], told: Callable[[Oddity], str]) -> None:
        """`told`: the sentence about one."""
        for odd in oddities(kind, content):
            what = kind, tuple(step for step in odd.path if isinstance(step, str)), odd.meant
            if what in self._first:
                self._others[what] = self._others.get(what, 0) + 1
            else:
                self._first[what] = told(odd)

    def notes(self) -> Iterator[str]:
        for what, told in self._first.items():
            others = self._others.get(what, 0)
            yield f"{told}; and {others} more like it" if others else told


def oddities(kind: str, manifest: Mapping[str, Any]) -> Iterator[Oddity]:
    """All of them in an object of this kind. What is below an unknown field is not looked at."""
    if kind in _SPECS:
        whole = names("apiVersion", "kind", "status", metadata=METADATA, spec=_SPECS[kind])
    else:
        whole = some(metadata=METADATA)
    yield from _below(whole, manifest, ())


def _below(known: Names, value: Any, path: Path) -> Iterator[Oddity]:
    if isinstance(value, list) and "items" in known:
        for index, entry in enumerate(value):
            yield from _below(known["items"], entry, (*path, index))
    if not isinstance(value, Mapping):
        return
    if "additionalProperties" in known:
        for name, field in value.items():
            yield from _below(known["additionalProperties"], field, (*path, name))
    fields = known.get("properties", ())
    for name, field in value.items() if fields else ():
        if name in fields:
            yield from _below(fields[name], field, (*path, name))
        elif (meant := _meant(str(name), fields)) or "more" not in known:
            yield Oddity((*path, name), meant)


def _meant(name: str, fields: Mapping[str, Names]) -> str:
    near = get_close_matches(name, fields, n=1) if len(name) <= _LONGEST else []
    return near[0] if near and SequenceMatcher(None, name, near[0]).ratio() >= _ALIKE else ""
