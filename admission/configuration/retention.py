"""`objectRetentionPolicies`: how long what is over is kept."""

from admission.configuration.fields import Section
from admission.model.configuration import Retention


def read_retention(section: Section) -> Retention:
    workloads = section.part("workloads")
    return Retention(
        after_finished=workloads.seconds("afterFinished", None),
        after_deactivated=workloads.seconds("afterDeactivatedByKueue", None),
    )
