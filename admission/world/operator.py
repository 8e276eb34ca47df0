"""What the operator of a kind of jobs writes, as pure functions, one module per operator: a run in memory and one on a
real API server, where no operator runs either, play the same part."""

from typing import Protocol

from admission.world.objects import Frozen, Object


class Operator(Protocol):
    """Statuses are merge patches of the job's status. `now` as Kubernetes writes times."""

    def running(self, job: Frozen, now: str) -> Object:
        """All its pods run and are ready."""
        ...

    def stopped(self, job: Frozen, now: str) -> Object:
        """It is held, and its pods are gone."""
        ...

    def finished(self, job: Frozen, now: str) -> Object | None:
        """It came to its end with success; None: jobs of this kind never end by themselves."""
        ...

    def failed(self, job: Frozen, now: str, message: str) -> Object | None:
        """The same without success."""
        ...

    def children(self, job: Frozen) -> list[Object]:
        """What it makes as the job is now, with itself for the controlling owner. What is not among them any more is
        deleted; one that states `spec.suspend` is held and released as that says."""
        ...


def owned_by(job: Frozen) -> list[Object]:
    """The ownerReferences of what the job's operator makes."""
    return [
        {
            "apiVersion": job["apiVersion"],
            "kind": job["kind"],
            "name": job["metadata"]["name"],
            "uid": job["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
