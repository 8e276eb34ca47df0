"""Kueue's feature gates by name, with the defaults of v0.19.2, and which of them mean something here.

A gate of KEPT changes what we do and can be set either way. Every other known gate guards a part of Kueue that we have
not: setting it to false says nothing new and is accepted, setting it to true is refused with a sentence. Gates whose
behaviour is simply how we work (FIXED) may be set to true.
"""

from collections.abc import Mapping

# Gates whose two sides we have, with their defaults.
KEPT: Mapping[str, bool] = {
    "AdmissionFairSharing": True,
    "AdmissionGatedBy": True,
    "AssignQueueLabelsForPods": True,
    "DisableWaitForPodsReady": False,
    "FairSharingPreemptWithinNominal": True,
    "FairSharingPrioritizeNonBorrowing": True,
    "FinishOrphanedWorkloads": True,
    "FlavorFungibility": True,
    "FlavorFungibilityPreserveScanProgress": True,
    "LocalQueueMetrics": True,
    "MetricForWorkloadCreationLatency": True,
    "MetricsForCohorts": True,
    "ObjectRetentionPolicies": True,
    "PartialAdmission": True,
    "PrioritizePreemptorWorkloads": False,
    "PriorityBoost": False,
    "PrioritySortingWithinCohort": True,
    "QuotaCheckStrategy": True,
    "ReclaimablePods": True,
    "RecomputeAssignmentUponPreemptionTargetsOverlap": False,
    "RejectUpdatesToCQWithInvalidOnFlavors": False,
    "SchedulingEquivalenceHashing": True,
    "ShortWorkloadNames": False,
    "UnadmittedWorkloadsExplicitStatus": False,
    "UnadmittedWorkloadsObservability": False,
    "VisibilityOnDemand": True,
    "WorkloadPriorityClassDefaulting": False,
    "WorkloadValidateResourcesAreNonNegative": True,
    "WorkloadValidationForPodSetMetadata": True,
}

# Gates whose "on" side is the only one that we have.
FIXED: frozenset[str] = frozenset(
    {
        "HierarchicalCohorts",
        "ManagedJobsNamespaceSelectorAlwaysRespected",
        "PropagateBatchJobLabelsToWorkload",
        "RemoveFinalizersWithStrictPatch",
        "SkipAncestorCheckForDeletedWorkloads",
        "SkipReassignmentForPodOwnedWorkloads",
        "TLSOptions",
        "VectorizedResourceRequests",
        "WorkloadIdentifierAnnotations",
        "WorkloadRequestUseMergePatch",
    }
)


class Gates:
    """What is on. Unknown names raise KeyError: a gate is asked for in code only by a name of KEPT."""

    __slots__ = ("_on",)

    def __init__(self, changed: Mapping[str, bool] | None = None) -> None:
        self._on = {**KEPT, **{name: on for name, on in (changed or {}).items() if name in KEPT}}

    def __getitem__(self, name: str) -> bool:
        return self._on[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gates) and self._on == other._on

    def __hash__(self) -> int:
        return hash(tuple(self._on.items()))

    def __repr__(self) -> str:
        changed = {name: on for name, on in self._on.items() if KEPT[name] != on}
        return f"Gates({changed})"


DEFAULTS = Gates()
