"""What reconcile functions may look at: a read-only window on the state."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from admission.jobs import JobKinds
from admission.model.configuration import Configuration
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.model.queues import (
    AdmissionCheck,
    ClusterQueue,
    LocalQueue,
    Namespace,
    PriorityClass,
    ResourceFlavor,
    Topology,
)
from admission.model.workload import Workload


class Serving(NamedTuple):
    """How the API server answers for a kind. `forbidden`: it may well have it, but we may not look."""

    served: bool
    forbidden: bool = False


class Tally(NamedTuple):
    """Jobs that exist and carry the stamp of a profile. `newest`: when the last of them was created; 0 for none."""

    jobs: int
    newest: float


class View(Protocol):
    """Objects as they are once what is under way has happened."""

    configuration: Configuration
    job_kinds: JobKinds

    def cluster_queue(self, name: str) -> ClusterQueue | None: ...

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None: ...

    def flavor(self, name: str) -> ResourceFlavor | None: ...

    def admission_check(self, name: str) -> AdmissionCheck | None: ...

    def topology(self, name: str) -> Topology | None: ...

    def namespace(self, name: str) -> Namespace | None: ...

    def workload_priority_class(self, name: str) -> PriorityClass | None: ...

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        """A core PriorityClass; the empty name asks for the cluster's global default."""
        ...

    def job_of(self, uid: str) -> Job | None:
        """The job of this uid."""
        ...

    def unheard_of(self, owner: Ref, uid: str) -> Ref | None:
        """An owner that `job_of` does not find may be a job whose news is late: what to look for. None: it is of no
        kind of jobs, gone, or was never there."""
        ...

    def serving(self, kind: str) -> Serving | None:
        """Whether the API server lets us see objects of this kind; None: that is not known yet."""
        ...

    def stamped_by(self, profile: str) -> Tally | None:
        """As it was counted last; None: it was not yet."""
        ...

    def makes_queue(self, queue: str, template: str) -> bool:
        """Whether some JobProfile gives this LocalQueue, made from this template."""
        ...

    def workload(self, ref: Ref) -> Workload | None: ...

    def workloads_of(self, uid: str) -> Sequence[Workload]:
        """Workloads that the object of this uid controls, by name."""
        ...

    @property
    def marks(self) -> tuple[str, ...]:
        """Labels by which policies tell work apart: a Workload takes them over from its job."""
        ...

    def longest_run(self, workload: Workload) -> int | None:
        """Seconds that one who holds quota may run, by its own word and by policies; None: as long as it wants."""
        ...

    def departed(self, uid: str) -> bool:
        """The job of this uid was seen to go. An unknown job may only not have been told of yet."""
        ...

    def cohort_path(self, cluster_queue: str) -> str:
        """`/root/…/queue`, for people."""
        ...
