"""Kueue's feature gates by name, with the defaults of v0.19.2, and which of them mean something here.

A gate of KEPT changes what we do and can be set either way. One of LACKING guards a part of Kueue that we have not:
setting it to false says nothing new and is accepted, setting it to true is refused with a sentence. One of FIXED is
simply how we work and may be set to true; one of NEUTRAL changes nothing that can be seen.
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
    "UnadmittedWorkloadsObservability": False,
    "ValidateRayAndSparkJobUpdates": True,
    "VisibilityOnDemand": True,
    "WorkloadPriorityClassDefaulting": False,
    "WorkloadValidateResourcesAreNonNegative": True,
    "WorkloadValidationForPodSetMetadata": True,
}

# Gates whose "on" side is the only one that we have, and why there is no other.
FIXED: Mapping[str, str] = {
    "HierarchicalCohorts": "cohorts always form trees",
    "ManagedJobsNamespaceSelectorAlwaysRespected": "the selector holds for every job",
    "ObjectRetentionPolicies": "without objectRetentionPolicies everything is kept anyway",
    "PropagateBatchJobLabelsToWorkload": "the labels of a Job's pods are always known to its Workload",
    "RemoveFinalizersWithStrictPatch": "a finalizer is only ever removed from the object that was looked at",
    "SkipAncestorCheckForDeletedWorkloads": "what is being deleted is never held back",
    "SkipReassignmentForPodOwnedWorkloads": "a pod that was stopped can't start again",
    "TLSOptions": "without tls the defaults hold anyway",
    "WorkloadIdentifierAnnotations": "labels can't hold long names",
}

# Gates of Kueue's inner workings, that nobody sees from outside: any value will do, and what it is is no matter.
NEUTRAL: Mapping[str, str] = {
    "VectorizedResourceRequests": "sums of requests are exact in any case",
    "WorkloadRequestUseMergePatch": "writes always name the version that they were planned from",
}

_CLUSTERS = "sending jobs to other clusters"
_DEVICES = "counting devices of ResourceClaims"
_ELASTIC = "jobs that change their size while they run"
_KINDS = "a kind of job"
_TOPOLOGY = "topology-aware placement"

# Gates of parts of Kueue that we have not: which part.
LACKING: Mapping[str, str] = {
    "CleanupProvisioningRequestsOnEviction": "ProvisioningRequests",
    "ConcurrentAdmission": "trying several flavors at once for one job",
    "CustomMetricLabels": "labels of metrics of one's own choice",
    "DeferRayServiceFinalizationForRedisCleanup": _KINDS,
    "ElasticJobsViaWorkloadSlices": _ELASTIC,
    "ElasticJobsViaWorkloadSlicesWithTAS": _ELASTIC,
    "FailureRecoveryPolicy": "deleting pods of nodes that are gone",
    "FastQuotaReleaseInPodIntegration": _KINDS,
    "KueueDRAIntegration": _DEVICES,
    "KueueDRAIntegrationConsumableCapacity": _DEVICES,
    "KueueDRAIntegrationExtendedResource": _DEVICES,
    "KueueDRAIntegrationPartitionableDevices": _DEVICES,
    "KueueDRARejectWorkloadsWhenDRADisabled": _DEVICES,
    "LWSImmutableGroupSize": _KINDS,
    "MultiKueue": _CLUSTERS,
    "MultiKueueAdaptersForCustomJobs": _CLUSTERS,
    "MultiKueueAllowInsecureKubeconfigs": _CLUSTERS,
    "MultiKueueClusterProfile": _CLUSTERS,
    "MultiKueueIncrementalDispatcherConfig": _CLUSTERS,
    "MultiKueueIncrementalDispatcherRespectConfigOrder": _CLUSTERS,
    "MultiKueueKubeConfigPathValidation": _CLUSTERS,
    "MultiKueueManagerQuotaAutomation": _CLUSTERS,
    "MultiKueueOrchestratedPreemption": _CLUSTERS,
    "MultiKueueRedoAdmissionOnEvictionInWorker": _CLUSTERS,
    "MultiKueueRemoteSpecSync": _CLUSTERS,
    "MultiKueueWaitForWorkloadAdmitted": _CLUSTERS,
    "PodIntegrationValidateGroupOwner": _KINDS,
    "SchedulerLibraryIntegration": "placing pods by the code of kube-scheduler",
    "SchedulerLongRequeueInterval": "a longer pause before what does not fit is tried again",
    "SchedulerTimestampPreemptionBuffer": "sparing workloads that are hardly newer from preemption",
    "SkipFinalizersForPodsSuspendedByParent": _KINDS,
    "SparkApplicationIntegration": _KINDS,
    "TASAssignmentsEncodingByHostnamePrefix": _TOPOLOGY,
    "TASBalancedPlacement": _TOPOLOGY,
    "TASCacheNodeMatchResults": _TOPOLOGY,
    "TASCacheTopologyTree": _TOPOLOGY,
    "TASCachingRemainingResources": _TOPOLOGY,
    "TASFailedNodeReplacement": _TOPOLOGY,
    "TASFailedNodeReplacementFailFast": _TOPOLOGY,
    "TASHandleOverlappingFlavors": _TOPOLOGY,
    "TASMultiLayerTopology": _TOPOLOGY,
    "TASProfileMixed": _TOPOLOGY,
    "TASRecomputeAssignmentWithinSchedulingCycle": _TOPOLOGY,
    "TASReplaceNodeDueToNotReadyOverFixedTime": _TOPOLOGY,
    "TASReplaceNodeOnNodeTaints": _TOPOLOGY,
    "TASReplaceNodeOnPodTermination": _TOPOLOGY,
    "TASRespectNodeAffinityPreferred": _TOPOLOGY,
    "TASValidateWorkloadSliceSize": _TOPOLOGY,
    "TopologyAwareScheduling": _TOPOLOGY,
    "UnadmittedWorkloadsExplicitStatus": "the condition Admitted on Workloads that never had quota",
}

# A gate that is switched on by hand needs these switched on too.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "FlavorFungibilityPreserveScanProgress": ("FlavorFungibility",),
}


class Gates:
    """What is on. Unknown names raise KeyError: a gate is asked for in code only by a name of KEPT."""

    __slots__ = ("_on",)

    def __init__(self, changed: Mapping[str, bool] | None = None) -> None:
        self._on = {**KEPT, **{name: on for name, on in (changed or {}).items() if name in KEPT}}

    def __getitem__(self, name: str) -> bool:
        return self._on[name]

    def all(self) -> dict[str, bool]:
        """Every gate of KEPT."""
        return dict(self._on)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gates) and self._on == other._on

    def __hash__(self) -> int:
        return hash(tuple(self._on.items()))

    def __repr__(self) -> str:
        changed = {name: on for name, on in self._on.items() if KEPT[name] != on}
        return f"Gates({changed})"


DEFAULTS = Gates()
