"""The kinds of jobs there are: those built in, and those that JobKind objects describe. A new one of the former is a
module and a line here."""

from collections.abc import Collection, Iterator, Mapping

from admission.jobs import batch_job, spark_application, workflow
from admission.jobs.descriptor import Descriptor
from admission.jobs.job_set import JOB_SET
from admission.jobs.kubeflow import JAX_JOB, MPI_JOB, PADDLE_JOB, PYTORCH_JOB, TF_JOB, XGBOOST_JOB
from admission.jobs.ray_cluster import RAY_CLUSTER
from admission.jobs.ray_job import RAY_JOB
from admission.jobs.template_sources import TemplateSources
from admission.model.job_kind import Elsewhere, Place
from admission.model.kinds import KINDS, kind_of

JOB_KINDS: Mapping[str, Descriptor] = {
    "Job": batch_job,
    "JobSet": JOB_SET,
    "TFJob": TF_JOB,
    "PyTorchJob": PYTORCH_JOB,
    "XGBoostJob": XGBOOST_JOB,
    "PaddleJob": PADDLE_JOB,
    "JAXJob": JAX_JOB,
    "MPIJob": MPI_JOB,
    "RayCluster": RAY_CLUSTER,
    "RayJob": RAY_JOB,
    "SparkApplication": spark_application,
    "Workflow": workflow,
}


class JobKinds(Mapping[str, Descriptor]):
    """Descriptors by kind, as `Ref.kind` names it. `frameworks`: of those built in only these; None: all."""

    def __init__(self, frameworks: Collection[str] | None = None) -> None:
        self.sources = TemplateSources()
        # Kinds of objects in which templates of jobs lie -> where in them
        self.places: Mapping[str, tuple[Place, ...]] = {}
        self._lenders: dict[str, tuple[Elsewhere, ...]] = {}  # name of the JobKind -> what it says of those
        self._built_in = {kind: found for kind, found in JOB_KINDS.items() if frameworks is None or kind in frameworks}
        self._described: dict[str, tuple[str, Descriptor]] = {}  # name of the JobKind -> kind, descriptor
        self._describers: dict[tuple[str, str], str] = {}  # group and kind -> name of the JobKind that counts
        self._all: dict[str, Descriptor] = dict(self._built_in)

    def __getitem__(self, kind: str) -> Descriptor:
        return self._all[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def describe(self, name: str, kind: str, descriptor: Descriptor, lenders: tuple[Elsewhere, ...] = ()) -> None:
        """A JobKind object of this name describes the kind, from now on like this. What is built in stays as it is,
        and of two JobKinds for one kind that with the first name counts. `lenders`: where templates of its jobs lie in
        other objects."""
        self._described[name] = (kind, descriptor)
        self._lenders[name] = lenders
        self._put_together()

    def forget(self, name: str) -> None:
        """That JobKind is gone."""
        if self._described.pop(name, None) is not None:
            self._put_together()

    def named(self, group: str, kind: str) -> str | None:
        """The name of a kind of jobs, in whatever version an owner reference speaks of it; None: it is none."""
        if kind in self._built_in and KINDS[kind].group == group:
            return kind
        found = ((name, kind_of(name)) for name in self._all if name not in self._built_in)
        return next((name for name, one in found if (one.group, one.kind) == (group, kind)), None)

    def describer(self, kind: str) -> str:
        """The name of the JobKind whose word counts for this kind; "": it is built in, or nobody describes it."""
        served = kind_of(kind)
        return self._describers.get((served.group, served.kind), "")

    def _put_together(self) -> None:
        taken = {(KINDS[kind].group, KINDS[kind].kind): "" for kind in self._built_in}
        self._all = dict(self._built_in)
        for name, (kind, descriptor) in sorted(self._described.items()):
            served = kind_of(kind)
            if taken.setdefault((served.group, served.kind), name) == name:
                self._all[kind] = descriptor
        self._describers = taken
        places: dict[str, dict[Place, None]] = {}
        for name, (kind, _) in sorted(self._described.items()):
            for one in self._lenders[name] if kind in self._all and self.describer(kind) == name else ():
                places.setdefault(one.kind, {})[one.place] = None
        self.places = {kind: tuple(found) for kind, found in places.items()}
