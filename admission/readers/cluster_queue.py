"""ClusterQueue JSON -> ClusterQueue."""

from collections.abc import Mapping
from typing import Any

from admission.model.queues import CheckRule, ClusterQueue, Fungibility, Preemption
from admission.readers.metadata import read_metadata
from admission.readers.narrow import choice, entries, mapping, maybe_integer, word, words
from admission.readers.queue_status import read_queue_status
from admission.readers.quotas import read_groups, read_weight
from admission.readers.selector import read_label_selector

STOP_POLICIES = ("None", "Hold", "HoldAndDrain")


def read_cluster_queue(wire: Mapping[str, Any]) -> ClusterQueue:
    """Total: any JSON object gives a ClusterQueue."""
    meta = read_metadata(wire)
    spec = mapping(wire.get("spec"))
    checks = entries(mapping(spec.get("admissionChecksStrategy")).get("admissionChecks"))
    return ClusterQueue(
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
        generation=meta.generation,
        created=meta.created,
        deleting=meta.deleting,
        finalizers=meta.finalizers,
        cohort=word(spec.get("cohortName")),
        groups=read_groups(spec.get("resourceGroups")),
        strict_fifo=spec.get("queueingStrategy") == "StrictFIFO",
        namespace_selector=read_label_selector(spec.get("namespaceSelector")),
        preemption=_preemption(mapping(spec.get("preemption"))),
        fungibility=_fungibility(mapping(spec.get("flavorFungibility"))),
        stop_policy=choice(spec.get("stopPolicy"), *STOP_POLICIES),
        checks=tuple(CheckRule(word(check.get("name")), words(check.get("onFlavors"))) for check in checks),
        weight=read_weight(spec),
        usage_based=mapping(spec.get("admissionScope")).get("admissionMode") == "UsageBasedAdmissionFairSharing",
        status=read_queue_status(wire.get("status")),
    )


def _preemption(wire: Mapping[str, Any]) -> Preemption:
    borrowing = mapping(wire.get("borrowWithinCohort"))
    return Preemption(
        within_cluster_queue=choice(
            wire.get("withinClusterQueue"), "Never", "LowerPriority", "LowerOrNewerEqualPriority"
        ),
        reclaim_within_cohort=choice(wire.get("reclaimWithinCohort"), "Never", "LowerPriority", "Any"),
        borrow_within_cohort=choice(borrowing.get("policy"), "Never", "LowerPriority"),
        max_priority_threshold=maybe_integer(borrowing.get("maxPriorityThreshold")),
    )


def _fungibility(wire: Mapping[str, Any]) -> Fungibility:
    return Fungibility(
        when_can_borrow=choice(wire.get("whenCanBorrow"), "MayStopSearch", "TryNextFlavor"),
        when_can_preempt=choice(wire.get("whenCanPreempt"), "TryNextFlavor", "MayStopSearch"),
        preference=choice(wire.get("preference"), "BorrowingOverPreemption", "PreemptionOverBorrowing"),
    )
