"""What others do on a cluster and nobody does here: operators of jobs with their pods, owners of bare Workloads.

Pods start at once and are ready at once. They end when told so (`finish`, `stopped`), or by themselves `stop_after`
seconds after their job was stopped. What an operator makes for a job, it makes here, too: jobs that others own.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from admission.jobs import JOB_KINDS
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.model.names import (
    ADMITTED,
    EVICTED,
    FINISHED,
    PODS_READY,
    QUOTA_RESERVED,
    REQUEUED,
)
from admission.model.times import seconds, stamp
from admission.world import (
    argo_operator,
    batch_operator,
    job_set_operator,
    kubeflow_operator,
    ray_operator,
    spark_operator,
)
from admission.world.clock import Clock
from admission.world.metadata import separate_status
from admission.world.objects import Frozen, Object, condition, holds, kind_key, ref_of, with_conditions
from admission.world.operator import Operator
from admission.world.server import JOB_CONTROLLER, ApiServer
from admission.world.store import Change

OPERATORS: Mapping[str, Operator] = {
    "Job": batch_operator,
    "JobSet": job_set_operator,
    **dict.fromkeys(kubeflow_operator.KINDS, kubeflow_operator),
    **dict.fromkeys(ray_operator.KINDS, ray_operator),
    "SparkApplication": spark_operator,
    "Workflow": argo_operator,
}
# What is written of a job that others run: where the schema asks for more than they may say.
_BEGUN = {"SparkApplication": spark_operator.begun}
# Who runs a job that says so all the same: what it names is the usual operator.
_USUAL = (
    "kubernetes.io/job-controller",
    "jobset.sigs.k8s.io/jobset-controller",
    "kubeflow.org/training-operator",
    "kubeflow.org/mpi-operator",
    "ray.io/kuberay-operator",
)
# Eviction reasons after which a workload may be queued again at once; after others something must happen first.
_REQUEUED_AT_ONCE = ("Preempted", "NodeFailures")


_BY_PATCH = "write its status with a patch event"


class NotPossible(LookupError):
    """What was asked of an operator cannot happen to this object now."""


class Operators:
    """`stop_after`: seconds until stopped pods are gone; None: only `stopped` says so. `children`: jobs that operators
    make for jobs are made."""

    def __init__(self, api: ApiServer, clock: Clock, stop_after: float | None = None, *, children: bool = True) -> None:
        self._api = api
        self._clock = clock
        self.stop_after = stop_after
        self._children = children
        self._jobs: dict[Ref, None] = {}
        self._left: dict[Ref, None] = {}
        self._made: dict[str, None] = {}  # uids
        self._stopping: dict[Ref, None] = {}
        api.listen(self._note)

    def step(self) -> bool:
        """Look after the jobs that changed; False when there are none."""
        jobs, self._jobs = list(self._jobs), {}
        for ref in jobs:
            self._run(ref)
        return bool(jobs)

    # what a scenario or a simulation tells

    def leave(self, ref: Ref) -> None:
        """Somebody else writes how this job goes from now on: it is only ended and stopped when told so."""
        self._left[ref] = None

    def finish(self, ref: Ref) -> None:
        """The job completed with success."""
        found = self._found(ref)
        if ref.kind in OPERATORS:
            for child in self._going(found):
                self.finish(child)
            status = OPERATORS[ref.kind].finished(found, stamp(self._clock.now))
            if status is None:
                raise NotPossible(f"{ref} never ends by itself: delete it")
            self._write(ref, status)
        elif ref.kind == "Workload":
            done = self._condition(FINISHED, "True", "Succeeded", "Job finished successfully")
            self._write(ref, {"conditions": with_conditions(found, done)})
        elif ref.kind == "Pod":
            self._write(ref, {"phase": "Succeeded"})
        else:
            raise NotPossible(f"no operator here can finish {ref}: {_BY_PATCH}")

    def fail(self, ref: Ref, message: str) -> None:
        """The job came to its end without success."""
        found = self._found(ref)
        operator = OPERATORS.get(ref.kind)
        status = operator.failed(found, stamp(self._clock.now), message) if operator is not None else None
        if status is None:
            raise NotPossible(f"no operator here says of {ref} that it failed")
        self._write(ref, status)

    def stopped(self, ref: Ref) -> None:
        """The pods of a stopped job are gone; of a bare Workload: its owner lets go of the quota."""
        found = self._found(ref)
        if ref.kind in OPERATORS:
            for child in self._leaving(found):
                self.stopped(child)
            self._write(ref, OPERATORS[ref.kind].stopped(found, stamp(self._clock.now)))
        elif ref.kind == "Workload":
            self._release(ref, found)
        else:
            raise NotPossible(f"no operator here can stop {ref}: {_BY_PATCH}")

    def ready(self, ref: Ref) -> None:
        """The pods of a bare Workload are all ready."""
        told = self._condition(PODS_READY, "True", "Started", "All pods reached readiness and the workload is running")
        self._write(ref, {"conditions": with_conditions(self._found(ref), told)})

    # what operators do by themselves

    def _note(self, change: Change) -> None:
        if change.type == "DELETED":
            return
        if change.ref.kind in OPERATORS:
            self._jobs[change.ref] = None
            if change.new["metadata"]["uid"] in self._made:
                for owner in change.new["metadata"].get("ownerReferences") or ():
                    self._jobs[Ref(kind_key(owner), change.ref.namespace, owner["name"])] = None
        elif change.ref.kind == "Workload" and self.stop_after is not None and _evicted_bare(change.new):
            self._stop_later(change.ref)

    def _run(self, ref: Ref) -> None:
        manifest = self._api.peek(ref)
        if manifest is None or manifest["metadata"].get("deletionTimestamp") or _run_by_others(manifest):
            return
        job = JOB_KINDS[ref.kind].read(manifest)
        if ref in self._left:
            if ref.kind in _BEGUN and not job.suspended and not manifest.get("status"):
                self._write(ref, _BEGUN[ref.kind](manifest))
            return
        if self._children:
            self._make_children(manifest, ended=job.end is not None)
        if job.end is not None:
            return
        if job.suspended:
            if job.active and self.stop_after is not None:
                self._stop_later(ref)
        elif not job.active:
            self._write(ref, OPERATORS[ref.kind].running(manifest, stamp(self._clock.now)))

    def _make_children(self, manifest: Frozen, *, ended: bool) -> None:
        """What the job's operator wants to be there. One that has ended makes nothing new."""
        wanted = {ref_of(child): child for child in OPERATORS[ref_of(manifest).kind].children(manifest)}
        there = {child: found for child, found in self._owned(manifest) if found["metadata"]["uid"] in self._made}
        for child in there:
            if child not in wanted:
                self._api.delete(child, user=JOB_CONTROLLER)
        for child, one in wanted.items():
            if child in there:
                self._follow(child, there[child], one)
            elif not ended:
                # One that is refused, as its name is taken, is tried again when something changes, as operators do.
                made = self._api.create(one, user=JOB_CONTROLLER).body
                if made is not None:
                    self._made[made["metadata"]["uid"]] = None

    def _follow(self, child: Ref, now: Frozen, wanted: Frozen) -> None:
        """It is held and released as its owner says, with what its pods got meanwhile."""
        held = wanted["spec"].get("suspend")
        if held is None or bool(now["spec"].get("suspend")) == held or JOB_KINDS[child.kind].read(now).end is not None:
            return
        if held:
            self._api.patch(child, {"spec": {"suspend": True}}, user=JOB_CONTROLLER)
            return
        if (now.get("status") or {}).get("startTime"):  # the template of one that has started is not to be touched
            self._write(child, {"startTime": None})
        pods = wanted["spec"]["template"]
        meta = {field: (pods.get("metadata") or {}).get(field) or {} for field in ("labels", "annotations")}
        directives = {field: pods["spec"][field] for field in ("nodeSelector", "tolerations") if field in pods["spec"]}
        template = {"metadata": meta, "spec": directives}
        self._api.patch(child, {"spec": {"suspend": False, "template": template}}, user=JOB_CONTROLLER)

    def _owned(self, job: Frozen) -> Iterator[tuple[Ref, Frozen]]:
        """Jobs of kinds that operators here run."""
        if not self._children:
            return
        for ref in self._api.store.dependents(job["metadata"]["uid"]):
            found = self._api.peek(ref)
            if found is not None and ref.kind in OPERATORS:
                yield ref, found

    def _going(self, job: Frozen) -> list[Ref]:
        """What it made that runs and can end."""
        return [child for child, one in self._jobs_made(job) if child.kind == "Job" and one.end is None and one.active]

    def _leaving(self, job: Frozen) -> list[Ref]:
        return [child for child, one in self._jobs_made(job) if one.end is None and one.suspended and one.active]

    def _jobs_made(self, job: Frozen) -> Iterator[tuple[Ref, Job]]:
        for child, found in self._owned(job):
            if found["metadata"]["uid"] in self._made:
                yield child, JOB_KINDS[child.kind].read(found)

    def _stop_later(self, ref: Ref) -> None:
        if ref in self._stopping or self.stop_after is None:
            return
        self._stopping[ref] = None
        self._clock.at(self._clock.now + self.stop_after, lambda: self._stop_now(ref))

    def _stop_now(self, ref: Ref) -> None:
        self._stopping.pop(ref, None)
        found = self._api.peek(ref)
        if found is None:
            return
        if ref.kind == "Workload":
            if _evicted_bare(found):
                self.stopped(ref)
            return
        job = JOB_KINDS[ref.kind].read(found)
        if job.suspended and job.active and job.end is None:
            self.stopped(ref)

    def _release(self, ref: Ref, workload: Frozen) -> None:
        evicted = condition(workload, EVICTED)
        if evicted is None or evicted["status"] != "True":
            raise NotPossible(f"{ref} has not been evicted, so nothing of it can have stopped")
        at_once = evicted["reason"] in _REQUEUED_AT_ONCE
        message = evicted.get("message", "")
        changes = [
            self._condition(REQUEUED, "True" if at_once else "False", evicted["reason"], message),
            self._condition(QUOTA_RESERVED, "False", "Pending", message),
        ]
        status: Object = {"admission": None}
        admitted = condition(workload, ADMITTED)
        if admitted is not None and admitted["status"] == "True":
            changes.append(self._condition(ADMITTED, "False", "NoReservation", "The workload has no reservation"))
            before = (workload.get("status") or {}).get("accumulatedPastExecutionTimeSeconds") or 0
            ran = int(self._clock.now - seconds(admitted["lastTransitionTime"]))
            status["accumulatedPastExecutionTimeSeconds"] = before + ran
        status["conditions"] = with_conditions(workload, *changes)
        self._write(ref, status)

    def _condition(self, type: str, status: str, reason: str, message: str) -> Object:
        now = stamp(self._clock.now)
        return {"type": type, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}

    def _found(self, ref: Ref) -> Frozen:
        found = self._api.peek(ref)
        if found is None:
            raise NotPossible(f"{ref} does not exist at this moment")
        return found

    def _write(self, ref: Ref, status: dict[str, Any]) -> None:
        subresource = "status" if separate_status(ref.kind) else None
        answer = self._api.patch(ref, {"status": status}, subresource=subresource, user=JOB_CONTROLLER)
        if not answer.ok:
            raise NotPossible(f"the status of {ref} could not be written: {answer.message}")


def _run_by_others(job: Frozen) -> bool:
    spec = job.get("spec") or {}
    manager = spec.get("managedBy") or (spec.get("runPolicy") or {}).get("managedBy")
    return bool(manager) and manager not in _USUAL


def _evicted_bare(workload: Frozen) -> bool:
    owned = workload["metadata"].get("ownerReferences")
    return not owned and holds(workload, EVICTED) and holds(workload, QUOTA_RESERVED)
