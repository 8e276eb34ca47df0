"""Which module has the CRD of a kind, how to get it, and how to have a cluster serve it."""

from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml

from hack.cluster import Cluster, HackError, Refused
from hack.cluster.gobuild import module_dir

_GO = Path(__file__).parent / "go" / "operators"  # versions are its go.mod's
_ARGO = "github.com/argoproj/argo-workflows/v3"
_KUBEFLOW = "github.com/kubeflow/training-operator"
_MPI = "github.com/kubeflow/mpi-operator"
_RAY = "github.com/ray-project/kuberay/ray-operator"
_SPARK = "github.com/kubeflow/spark-operator/v2"
_JOBSET = "sigs.k8s.io/jobset"

# Kind -> module, file. The training operator also has an MPIJob, of version v1, which excludes the MPI operator's.
# Argo ships its kinds without their schemas ("minimal"); the full ones are 3 MB and need no less of the API server.
KINDS = {
    "TFJob": (_KUBEFLOW, "manifests/base/crds/kubeflow.org_tfjobs.yaml"),
    "PyTorchJob": (_KUBEFLOW, "manifests/base/crds/kubeflow.org_pytorchjobs.yaml"),
    "XGBoostJob": (_KUBEFLOW, "manifests/base/crds/kubeflow.org_xgboostjobs.yaml"),
    "PaddleJob": (_KUBEFLOW, "manifests/base/crds/kubeflow.org_paddlejobs.yaml"),
    "JAXJob": (_KUBEFLOW, "manifests/base/crds/kubeflow.org_jaxjobs.yaml"),
    "MPIJob": (_MPI, "manifests/base/kubeflow.org_mpijobs.yaml"),
    "RayJob": (_RAY, "config/crd/bases/ray.io_rayjobs.yaml"),
    "RayCluster": (_RAY, "config/crd/bases/ray.io_rayclusters.yaml"),
    "RayService": (_RAY, "config/crd/bases/ray.io_rayservices.yaml"),
    "RayCronJob": (_RAY, "config/crd/bases/ray.io_raycronjobs.yaml"),
    "SparkApplication": (_SPARK, "config/crd/bases/sparkoperator.k8s.io_sparkapplications.yaml"),
    "ScheduledSparkApplication": (_SPARK, "config/crd/bases/sparkoperator.k8s.io_scheduledsparkapplications.yaml"),
    "JobSet": (_JOBSET, "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
    "Workflow": (_ARGO, "manifests/base/crds/minimal/argoproj.io_workflows.yaml"),
    "CronWorkflow": (_ARGO, "manifests/base/crds/minimal/argoproj.io_cronworkflows.yaml"),
    "WorkflowTemplate": (_ARGO, "manifests/base/crds/minimal/argoproj.io_workflowtemplates.yaml"),
}

_sources = cache(module_dir)


def crd_file(kind: str) -> Path:
    """Where the CRD of a kind lies, downloaded when missing; read only."""
    if kind not in KINDS:
        raise HackError(f"no operator's CRD for kind {kind!r}\n  there are: {', '.join(KINDS)}")
    module, file = KINDS[kind]
    return _sources(_GO, module) / file


def job_crds(kinds: Iterable[str] = tuple(KINDS)) -> list[dict[str, Any]]:
    """The CRDs of these kinds, as their operators ship them."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # half a megabyte each: the C one is ten times as fast
    return [yaml.load(crd_file(kind).read_text(), loader) for kind in kinds]


def install_job_crds(cluster: Cluster, kinds: Iterable[str] = tuple(KINDS)) -> None:
    """Apply them, and wait until the cluster serves each kind in each of its versions.

    All of them cost the API server 16 s of CPU and 600 MiB: ask for those that are needed.
    """
    crds = job_crds(kinds)
    for crd in crds:
        cluster.api().apply(crd)
    for crd in crds:
        cluster.until(partial(_served, cluster, crd), f"{crd['metadata']['name']} served")


def _served(cluster: Cluster, crd: dict[str, Any]) -> bool:
    spec = crd["spec"]
    try:
        for version in spec["versions"]:
            if version["served"]:
                cluster.api().get(f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}?limit=1")
    except Refused:
        return False
    return True
