"""The Job controller's part: the status of a batch Job while its pods run, when they are gone, and at its end."""

from admission.world.objects import Frozen, Object, with_conditions


def running(job: Frozen, now: str) -> Object:
    count = pods_at_once(job)
    return {"startTime": (job.get("status") or {}).get("startTime") or now, "active": count, "ready": count}


def stopped(job: Frozen, now: str) -> Object:
    return {"active": 0, "ready": 0, "terminating": 0}


def finished(job: Frozen, now: str) -> Object:
    succeeded = job["spec"].get("completions") or job["spec"].get("parallelism") or 1
    ends = [
        _condition(end, "CompletionsReached", "Reached expected number of succeeded pods", now)
        for end in ("SuccessCriteriaMet", "Complete")
    ]
    return {**_ended(job, now, ends), "succeeded": succeeded, "completionTime": now}


def failed(job: Frozen, now: str, message: str) -> Object:
    ends = [_condition(end, "BackoffLimitExceeded", message, now) for end in ("FailureTarget", "Failed")]
    return {**_ended(job, now, ends), "failed": 1}


def children(job: Frozen) -> list[Object]:
    return []


def pods_at_once(job: Frozen) -> int:
    """How many pods a started Job runs now."""
    spec, done = job["spec"], (job.get("status") or {}).get("succeeded") or 0
    parallelism = int(spec.get("parallelism", 1))
    completions = spec.get("completions")
    return parallelism if completions is None else min(parallelism, max(int(completions) - done, 0))


def _ended(job: Frozen, now: str, ends: list[Object]) -> Object:
    started = (job.get("status") or {}).get("startTime") or now
    return {**stopped(job, now), "startTime": started, "conditions": with_conditions(job, *ends)}


def _condition(type: str, reason: str, message: str, now: str) -> Object:
    return {
        "type": type,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastProbeTime": now,
        "lastTransitionTime": now,
    }
