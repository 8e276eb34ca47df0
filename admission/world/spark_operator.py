"""The part of the Spark operator (2.5): how far an application got, and how its executors are.

Children of a ScheduledSparkApplication are applications like any other: they are not controlled by it.
"""

from collections.abc import Mapping

from admission.jobs import spark_application
from admission.readers.narrow import integer, mapping, text
from admission.world.objects import Frozen, Object

_DRIVER_NAME = "spark.kubernetes.driver.pod.name"
_TRACKED = 1000  # executors that the operator keeps in the status, unless told otherwise


def begun(job: Frozen) -> Object:
    """Submitted; no status is valid that says less."""
    spec = mapping(job.get("spec"))
    named = text(mapping(spec.get("driver")).get("podName")) or text(mapping(spec.get("sparkConf")).get(_DRIVER_NAME))
    return {
        "applicationState": {"state": "SUBMITTED", "errorMessage": None},
        "driverInfo": {"podName": named or f"{job['metadata']['name']}-driver"},
    }


def running(job: Frozen, now: str) -> Object:
    """Submitted, and all that it starts with is up."""
    status = mapping(job.get("status"))
    return {
        **begun(job),
        "applicationState": {"state": "RUNNING", "errorMessage": None},
        "executorState": dict.fromkeys(executors(job), "RUNNING"),
        "lastSubmissionAttemptTime": now,
        "terminationTime": None,
        "submissionAttempts": integer(status.get("submissionAttempts")) + 1,
        "executionAttempts": integer(status.get("executionAttempts")) + 1,
    }


def stopped(job: Frozen, now: str) -> Object:
    """The operator has deleted driver and executors of a suspended application, and forgets that there were any."""
    return {
        "applicationState": {"state": "SUSPENDED", "errorMessage": None},
        "driverInfo": {"podName": None},
        "executorState": None,
    }


def finished(job: Frozen, now: str) -> Object:
    return _ended(job, now, "COMPLETED", None, "COMPLETED")


def failed(job: Frozen, now: str, message: str) -> Object:
    return _ended(job, now, "FAILED", message, "FAILED")


def children(job: Frozen) -> list[Object]:
    return []


def executors(job: Frozen) -> list[str]:
    """Names of the pods that the driver asks for."""
    count = spark_application.read(job).pod_sets[1].count
    return [f"{job['metadata']['name']}-exec-{number}" for number in range(1, min(count, _TRACKED) + 1)]


def _ended(job: Frozen, now: str, state: str, message: str | None, executor: str) -> Object:
    known: Mapping[str, object] = mapping(mapping(job.get("status")).get("executorState"))
    return {
        "applicationState": {"state": state, "errorMessage": message},
        "executorState": dict.fromkeys(known, executor),
        "terminationTime": now,
    }
