"""What is refused about SparkApplications while they are managed: in Kueue's words what would outgrow its quota, and
what Spark itself could not read."""

from admission.api.field_errors import FieldError, invalid
from admission.jobs.descriptor import Manifest
from admission.jobs.spark_application import CLUSTER_ONLY
from admission.jobs.spark_settings import Settings
from admission.readers.narrow import mapping

# Kueue lets elastic jobs do so. Here nothing that runs is resized.
_ELASTIC_ONLY = (
    "a kueue managed job can use dynamicAllocation only when the ElasticJobsViaWorkloadSlices feature gate is on and "
    "the job is an elastic job"
)


def check_spark_application(manifest: Manifest) -> list[FieldError]:
    settings = Settings(manifest)
    mode = mapping(manifest.get("spec")).get("mode")
    errors = [] if mode == "cluster" else [invalid("spec.mode", "" if mode is None else mode, CLUSTER_ONLY)]
    if settings.allocation.get("enabled") is True:
        errors.append(invalid("spec.dynamicAllocation.enabled", True, _ELASTIC_ONLY))
        return errors
    return [*errors, *settings.faults()]
