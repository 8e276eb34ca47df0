"""AdmissionCheck: v1beta1 has a delay before a retry, which has had no effect for long."""

from admission.conversion.fields import Object, changed, without


def to_v1beta2(check: Object) -> Object:
    return changed(check, "spec", lambda spec: without(spec, "retryDelayMinutes"))


def to_v1beta1(check: Object) -> Object:
    return check
