"""LocalQueue: usage has another name in v1beta1; the list of flavors that it had in its status is kept no more."""

from admission.conversion.fields import Object, changed, renamed, without


def to_v1beta2(queue: Object) -> Object:
    return changed(queue, "status", lambda status: renamed(without(status, "flavors"), "flavorUsage", "flavorsUsage"))


def to_v1beta1(queue: Object) -> Object:
    return changed(queue, "status", lambda status: renamed(without(status, "flavors"), "flavorsUsage", "flavorUsage"))
