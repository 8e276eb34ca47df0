"""ClusterQueue: v1beta1 has `cohort`, a plain list of AdmissionChecks, and older words for the search for a flavor.

Lost on the way to v1beta1: concurrentAdmissionPolicy. Lost on the way back: what v1beta2 keeps no more of the status.
"""

from admission.conversion.fields import Object, a_list, a_string, an_object, changed, renamed, without

_OLD_WORDS = {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}  # both mean MayStopSearch


def to_v1beta2(queue: Object) -> Object:
    return changed(changed(queue, "spec", _newer_spec), "status", _newer_status)


def to_v1beta1(queue: Object) -> Object:
    return changed(queue, "spec", _older_spec)


def _newer_spec(spec: Object) -> Object:
    spec = renamed(without(spec, "concurrentAdmissionPolicy"), "cohort", "cohortName")
    names = a_list(spec.get("admissionChecks") or [], "admissionChecks")
    spec = without(spec, "admissionChecks")
    if names:
        told = [a_string(name, f"admissionChecks[{at}]") for at, name in enumerate(names)]
        rules = [{"name": name} for name in dict.fromkeys(told)]  # said twice it means no more, but v1beta2 refuses it
        spec = {**spec, "admissionChecksStrategy": {"admissionChecks": rules}}
    elif not an_object(spec.get("admissionChecksStrategy") or {}, "admissionChecksStrategy").get("admissionChecks"):
        spec = without(spec, "admissionChecksStrategy")  # v1beta2 has no strategy without checks
    return changed(spec, "flavorFungibility", _newer_search)


def _newer_search(search: Object) -> Object:
    return {name: "MayStopSearch" if value == _OLD_WORDS.get(name, ...) else value for name, value in search.items()}


def _newer_status(status: Object) -> Object:
    status = without(status, "pendingWorkloadsStatus")
    return changed(status, "fairSharing", lambda share: without(share, "admissionFairSharingStatus"))


def _older_spec(spec: Object) -> Object:
    return renamed(without(spec, "concurrentAdmissionPolicy", "admissionChecks"), "cohortName", "cohort")
