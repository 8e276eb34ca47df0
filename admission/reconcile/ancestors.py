"""Whose job a job is: the topmost owner that is queued counts for everything below it.

Owners are believed by their UID alone, so that a stale or forged reference manages nothing. One whose kind is managed
but whom nobody has told of yet is asked for before anything is decided: its news may simply be late.
"""

from typing import NamedTuple

from admission.model.job import Job
from admission.model.kinds import Ref
from admission.reconcile.view import View

DEEPEST = 10  # hops; Kueue gives up beyond this many, and no framework nests nearly as deep


class NestedTooDeeply(Exception):
    """The chain of owners is longer than any framework's, or goes in a circle."""


class Ancestry(NamedTuple):
    """`topmost`: the owner that is queued for the job, or None. `unknown`: an owner that must be looked for first."""

    topmost: Job | None = None
    unknown: Ref | None = None


def ancestry(view: View, job: Job) -> Ancestry:
    """Raises NestedTooDeeply."""
    topmost: Job | None = None
    for _ in range(DEEPEST + 1):
        if job.owner is None:
            return Ancestry(topmost)
        owner = view.job_of(job.owner_uid)
        if owner is None:
            return Ancestry(topmost, view.unheard_of(job.owner, job.owner_uid))
        if owner.ref.namespace != job.ref.namespace:
            return Ancestry(topmost)  # Kubernetes knows no such owner
        if owner.queue_name or view.configuration.manage_jobs_without_queue_name:
            topmost = owner
        job = owner
    raise NestedTooDeeply(f"the chain of owners is longer than {DEEPEST}, or a circle")
