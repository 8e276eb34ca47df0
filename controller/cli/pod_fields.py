"""The names of the fields that Kubernetes has in a Job and a pod template (1.35), as far in as misspelling one would
make another plan. What is deeper passes."""

from collections.abc import Mapping
from typing import Any

Names = Mapping[str, Any]  # as a schema has them: properties, items, additionalProperties

ANYTHING: Names = {}


def names(*plain: str, **deeper: Names) -> Names:
    """An object with these fields; of the plain ones nothing more is known."""
    return {"properties": {**dict.fromkeys(plain, ANYTHING), **deeper}}


def each(entry: Names) -> Names:
    return {"items": entry}


METADATA = names(
    *("name", "generateName", "namespace", "labels", "annotations", "finalizers", "uid", "resourceVersion"),
    *("generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"),
    "selfLink",
    ownerReferences=each(names("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")),
)
_RESOURCES = names("requests", "limits", "claims")
_CONTAINER = names(
    *("name", "image", "command", "args", "workingDir", "ports", "envFrom", "env", "resizePolicy", "restartPolicy"),
    *("restartPolicyRules", "volumeMounts", "volumeDevices", "livenessProbe", "readinessProbe", "startupProbe"),
    *("lifecycle", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy", "securityContext"),
    *("stdin", "stdinOnce", "tty"),
    resources=_RESOURCES,
)
_TERM = names(
    matchExpressions=each(names("key", "operator", "values")), matchFields=each(names("key", "operator", "values"))
)
_NODE_AFFINITY = names(
    "preferredDuringSchedulingIgnoredDuringExecution",
    requiredDuringSchedulingIgnoredDuringExecution=names(nodeSelectorTerms=each(_TERM)),
)
_POD = names(
    *("volumes", "ephemeralContainers", "restartPolicy", "terminationGracePeriodSeconds", "activeDeadlineSeconds"),
    *("dnsPolicy", "dnsConfig", "nodeSelector", "nodeName", "serviceAccountName", "serviceAccount", "hostNetwork"),
    *("automountServiceAccountToken", "hostPID", "hostIPC", "hostUsers", "hostname", "hostnameOverride", "subdomain"),
    *("hostAliases", "setHostnameAsFQDN", "shareProcessNamespace", "securityContext", "imagePullSecrets", "os"),
    *("schedulerName", "priorityClassName", "priority", "preemptionPolicy", "readinessGates", "runtimeClassName"),
    *("enableServiceLinks", "overhead", "topologySpreadConstraints", "schedulingGates", "resourceClaims"),
    *("workloadRef", "schedulingGroup"),
    affinity=names("podAffinity", "podAntiAffinity", nodeAffinity=_NODE_AFFINITY),
    containers=each(_CONTAINER),
    initContainers=each(_CONTAINER),
    resources=_RESOURCES,
    tolerations=each(names("key", "operator", "value", "effect", "tolerationSeconds")),
)
TEMPLATE = names(metadata=METADATA, spec=_POD)
JOB_SPEC = names(
    *("parallelism", "completions", "activeDeadlineSeconds", "podFailurePolicy", "successPolicy", "backoffLimit"),
    *("backoffLimitPerIndex", "maxFailedIndexes", "selector", "manualSelector", "ttlSecondsAfterFinished"),
    *("completionMode", "suspend", "podReplacementPolicy", "managedBy"),
    template=TEMPLATE,
)
