"""Objects of our kinds that the API server refuses, each with one thing wrong; read offline and live alike."""

from copy import deepcopy
from typing import Any, NamedTuple

from admission.model.kinds import KINDS
from admission.model.topology_assignment import HOSTNAME

Object = dict[str, Any]

QUOTA = {"name": "cpu", "nominalQuota": "8"}
GROUP = {"coveredResources": ["cpu"], "flavors": [{"name": "spot", "resources": [QUOTA]}]}
POD_SET = {"template": {"spec": {"containers": [{"name": "c", "image": "none"}]}}}
SINCE = "2026-01-02T03:04:05Z"


def of(kind: str, **fields: Any) -> Object:
    """An object of a kind of ours, named `a`."""
    metadata = {"name": "a", "namespace": "default"} if KINDS[kind].namespaced else {"name": "a"}
    return {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": metadata, **fields}


def condition(type: str, **fields: Any) -> Object:
    return {"type": type, "status": "True", "reason": "Because", "message": "", "lastTransitionTime": SINCE, **fields}


def reserved(**spec: Any) -> Object:
    """A Workload that holds quota."""
    status = {"conditions": [condition("QuotaReserved"), condition("Admitted")]}
    return of("Workload", spec={"podSets": [POD_SET], "priority": 0, **spec}, status=status)


VALID: dict[str, Object] = {
    "ClusterQueue": of("ClusterQueue", spec={"cohortName": "all", "resourceGroups": [GROUP], "namespaceSelector": {}}),
    "LocalQueue": of("LocalQueue", spec={"clusterQueue": "team"}),
    "Cohort": of("Cohort", spec={"parentName": "root", "fairSharing": {"weight": "1500m"}}),
    "ResourceFlavor": of("ResourceFlavor", spec={"nodeLabels": {"pool": "spot"}, "tolerations": [{"key": "spot"}]}),
    "Workload": of("Workload", spec={"podSets": [POD_SET], "queueName": "main"}),
    "AdmissionCheck": of("AdmissionCheck", spec={"controllerName": "example.com/budget"}),
    "WorkloadPriorityClass": of("WorkloadPriorityClass", value=100, description="urgent"),
    "Topology": of("Topology", spec={"levels": [{"nodeLabel": "example.com/rack"}, {"nodeLabel": HOSTNAME}]}),
    "ProvisioningRequestConfig": of(
        "ProvisioningRequestConfig",
        spec={
            "provisioningClassName": "check-capacity.autoscaling.x-k8s.io",
            "parameters": {"ValidUntilSeconds": "60"},
            "managedResources": ["nvidia.com/gpu"],
            "podSetUpdates": {
                "nodeSelector": [{"key": "example.com/pool", "valueFromProvisioningClassDetail": "PoolName"}]
            },
        },
    ),
}


class Refusal(NamedTuple):
    """`said` is the API server's complaint about `wrong`, which replaces `old` where there is one."""

    wrong: Object
    said: str
    old: Object | None = None

    def __str__(self) -> str:
        return self.said.partition(":")[0]


def _queue(**spec: Any) -> Object:
    return of("ClusterQueue", spec={"resourceGroups": [GROUP], **spec})


def _workload(**spec: Any) -> Object:
    return of("Workload", spec={"podSets": [POD_SET], **spec})


def _with(source: Object, path: str, value: Any) -> Object:
    """A copy with one field changed; digits in the path are indexes."""
    changed = deepcopy(source)
    *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
    at: Any = changed
    for part in way:
        at = at[part]
    at[last] = value
    return changed


ON_CREATE = [
    Refusal(
        _queue(queueingStrategy="Random"),
        'spec.queueingStrategy: Unsupported value: "Random": supported values: "StrictFIFO", "BestEffortFIFO"',
    ),
    Refusal(_queue(stopPolicy=3), 'spec.stopPolicy: Invalid value: "integer": spec.stopPolicy in body must be of type'),
    Refusal(_queue(cohortName="Not A Name"), 'spec.cohortName: Invalid value: "Not A Name": spec.cohortName in body'),
    Refusal(_queue(cohortName="n" * 254), "spec.cohortName: Too long: may not be more than 253 bytes"),
    Refusal(_queue(resourceGroups=[GROUP] * 17), "spec.resourceGroups: Too many: 17: must have at most 16 items"),
    Refusal(
        _with(_queue(), "spec.resourceGroups.0.flavors.0.resources", []),
        "spec.resourceGroups[0].flavors[0].resources: Invalid value: 0: "
        "spec.resourceGroups[0].flavors[0].resources in body should have at least 1 items",
    ),
    Refusal(
        _with(_queue(), "spec.resourceGroups.0.flavors.0.resources.0", {"name": "cpu"}),
        "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Required value",
    ),
    Refusal(
        _with(_queue(), "spec.resourceGroups.0.flavors.0.resources.0.nominalQuota", "eight"),
        "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: "
        '"eight": spec.resourceGroups[0].flavors[0].resources[0].nominalQuota in body should match',
    ),
    Refusal(
        _with(_queue(), "spec.resourceGroups.0.flavors", [GROUP["flavors"][0]] * 2),  # type: ignore[index]
        'spec.resourceGroups[0].flavors[1]: Duplicate value: {"name":"spot"}',
    ),
    Refusal(
        _with(_queue(), "spec.resourceGroups.0.coveredResources", ["cpu", "memory"]),
        "spec.resourceGroups[0]: Invalid value: flavors must have the same number of resources",
    ),
    Refusal(
        _with(_queue(), "spec.resourceGroups.0.flavors.0.resources.0.borrowingLimit", "1"),
        "spec: Invalid value: borrowingLimit must be nil when cohort is empty",
    ),
    Refusal(
        _queue(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}),
        "spec.preemption: Invalid value: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
    ),
    Refusal(
        _queue(flavorFungibility={"preference": "BorrowingOverPreemption"}),
        "spec.flavorFungibility: Invalid value: preference can only be set when both",
    ),
    Refusal(
        _queue(admissionChecksStrategy={"admissionChecks": [{"name": "c", "onFlavors": ["spot", "spot"]}]}),
        'spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]: Duplicate value: "spot"',
    ),
    Refusal(of("LocalQueue", spec={"clusterQueue": "Nope!"}), 'spec.clusterQueue: Invalid value: "Nope!"'),
    Refusal(
        of("ResourceFlavor", spec={"nodeLabels": {f"l{number}": "" for number in range(9)}}),
        "spec.nodeLabels: Too many: 9: must have at most 8 items",
    ),
    Refusal(
        of("ResourceFlavor", spec={"tolerations": [{"operator": "Equal"}]}),
        "spec.tolerations: Invalid value: operator must be Exists when 'key' is empty",
    ),
    Refusal(
        of("ResourceFlavor", spec={"tolerations": [{"key": "k", "operator": "Exists", "value": "v"}]}),
        "spec.tolerations: Invalid value: a value must be empty when 'operator' is 'Exists'",
    ),
    Refusal(
        of("ResourceFlavor", spec={"tolerations": [{"key": "k", "effect": "NoSchedule", "tolerationSeconds": 5}]}),
        "spec.tolerations: Invalid value: effect must be 'NoExecute' when 'tolerationSeconds' is set",
    ),
    Refusal(
        of("ResourceFlavor", spec={"nodeTaints": [{"key": "k", "effect": "Never"}]}),
        "spec.nodeTaints: Invalid value: supported taint effect values",
    ),
    Refusal(
        of("ResourceFlavor", spec={"topologyName": "racks"}),
        "spec: Invalid value: at least one nodeLabel is required when topology is set",
    ),
    Refusal(of("AdmissionCheck", spec={}), "spec.controllerName: Required value"),
    Refusal(of("Topology", spec={"levels": []}), "spec.levels: Invalid value: 0: spec.levels in body should have"),
    Refusal(
        of("Topology", spec={"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "rack"}]}),
        "spec.levels: Invalid value: must be unique",
    ),
    Refusal(
        of("Topology", spec={"levels": [{"nodeLabel": HOSTNAME}, {"nodeLabel": "rack"}]}),
        "spec.levels: Invalid value: the kubernetes.io/hostname label can only be used at the lowest level",
    ),
    Refusal(of("ProvisioningRequestConfig", spec={}), "spec.provisioningClassName: Required value"),
    Refusal(
        of("ProvisioningRequestConfig", spec={"provisioningClassName": "a", "podSetMergePolicy": "Never"}),
        'spec.podSetMergePolicy: Unsupported value: "Never"',
    ),
    Refusal(of("WorkloadPriorityClass"), "value: Required value"),
    Refusal(of("WorkloadPriorityClass", value=2**31), f"value: Invalid value: {2**31}: value in body should be less"),
    Refusal(_workload(podSets=[]), "spec.podSets: Invalid value: 0: spec.podSets in body should have at least 1 items"),
    Refusal(_workload(podSets=[{"count": 1}]), "spec.podSets[0].template: Required value"),
    Refusal(_workload(podSets=[POD_SET, POD_SET]), 'spec.podSets[1]: Duplicate value: {"name":"main"}'),
    Refusal(
        _workload(podSets=[{**POD_SET, "count": -1}]),
        "spec.podSets[0].count: Invalid value: -1: spec.podSets[0].count in body should be greater than or equal to 0",
    ),
    Refusal(
        _workload(podSets=[{**POD_SET, "count": 2, "minCount": 3}]),
        "spec.podSets[0]: Invalid value: minCount should be positive and less or equal to count",
    ),
    Refusal(
        _workload(priorityClassRef={"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}),
        "spec: Invalid value: priority should not be nil when priorityClassRef is set",
    ),
    Refusal(
        _workload(
            priority=1, priorityClassRef={"group": "scheduling.k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
        ),
        "spec.priorityClassRef: Invalid value: only the PriorityClass kind is allowed",
    ),
    Refusal(_workload(maximumExecutionTimeSeconds=0), "spec.maximumExecutionTimeSeconds: Invalid value: 0: "),
]

_CLASS = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
_POD_CLASS = {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"}

ON_UPDATE = [
    Refusal(
        of("Topology", spec={"levels": [{"nodeLabel": "rack"}]}),
        "spec.levels: Invalid value: field is immutable",
        VALID["Topology"],
    ),
    Refusal(
        of("LocalQueue", spec={"clusterQueue": "other"}),
        'spec.clusterQueue: Invalid value: "other": field is immutable',
        VALID["LocalQueue"],
    ),
    Refusal(
        of("AdmissionCheck", spec={"controllerName": "example.com/other"}),
        'spec.controllerName: Invalid value: "example.com/other": field is immutable',
        VALID["AdmissionCheck"],
    ),
    Refusal(
        of("ResourceFlavor", spec={"nodeLabels": {"pool": "other"}, "topologyName": "racks"}),
        "spec: Invalid value: nodeLabels are immutable when topologyName is set",
        of("ResourceFlavor", spec={"nodeLabels": {"pool": "spot"}, "topologyName": "racks"}),
    ),
    Refusal(
        of("ResourceFlavor", spec={"nodeLabels": {"pool": "spot"}}),
        "spec: Invalid value: topologyName is immutable when topologyName is set",
        of("ResourceFlavor", spec={"nodeLabels": {"pool": "spot"}, "topologyName": "racks"}),
    ),
    Refusal(
        reserved(queueName="other"),
        "<nil>: Invalid value: queueName is immutable while workload quota reserved",
        reserved(queueName="main"),
    ),
    Refusal(
        reserved(maximumExecutionTimeSeconds=9),
        "<nil>: Invalid value: maximumExecutionTimeSeconds is immutable while workload quota reserved",
        reserved(),
    ),
    Refusal(
        reserved(priorityClassRef=_CLASS),
        "<nil>: Invalid value: priorityClassRef is immutable while workload quota reserved",
        reserved(),
    ),
    Refusal(
        reserved(priorityClassRef=_POD_CLASS),
        "<nil>: Invalid value: priorityClassRef.kind is immutable while workload quota reserved",
        reserved(priorityClassRef=_CLASS),
    ),
    Refusal(
        reserved(priorityClassRef={**_POD_CLASS, "name": "low"}),
        "<nil>: Invalid value: priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass",
        reserved(priorityClassRef=_POD_CLASS),
    ),
]

# Updates that the same rules let pass.
ALLOWED = [
    (reserved(priorityClassRef=_CLASS), reserved(priorityClassRef={**_CLASS, "name": "low"})),
    (VALID["Workload"], _workload(queueName="other")),
    (VALID["ClusterQueue"], _queue(stopPolicy="Hold")),
]

# Wrong, but only in the status, which has a door of its own.
ON_STATUS = [
    Refusal(
        of(
            "Workload", spec={"podSets": [POD_SET]}, status={"conditions": [condition("Admitted", reason="not a word")]}
        ),
        'status.conditions[0].reason: Invalid value: "not a word"',
    ),
    Refusal(
        of("Workload", spec={"podSets": [POD_SET]}, status={"conditions": [condition("Admitted")] * 2}),
        'status.conditions[1]: Duplicate value: {"type":"Admitted"}',
    ),
    Refusal(
        of(
            "Workload",
            spec={"podSets": [POD_SET]},
            status={"conditions": [condition("QuotaReserved")], "admission": {"podSetAssignments": []}},
        ),
        "<nil>: Invalid value: podSetAssignments must have the same number of podSets as the spec",
    ),
    Refusal(
        of("Workload", spec={"podSets": [POD_SET]}, status={"requeueState": {"requeueAt": "soon"}}),
        "status.requeueState.requeueAt: Invalid value: ",
    ),
    Refusal(
        of("ClusterQueue", spec={}, status={"pendingWorkloads": "many"}),
        'status.pendingWorkloads: Invalid value: "string"',
    ),
]
