"""Cohort: the same in both versions, but for a part of its share that only LocalQueues ever had."""

from admission.conversion.fields import Object, changed, without


def to_v1beta2(cohort: Object) -> Object:
    return changed(
        cohort,
        "status",
        lambda status: changed(status, "fairSharing", lambda share: without(share, "admissionFairSharingStatus")),
    )


def to_v1beta1(cohort: Object) -> Object:
    return cohort
