"""Which writes pass which webhook, at Kueue's own names and URL paths."""

from dataclasses import dataclass
from typing import Literal

from admission.answers.request import Operation


@dataclass(frozen=True, slots=True)
class Hook:
    """One URL path. `resources` with a slash are subresources."""

    name: str
    path: str
    verb: Literal["mutate", "validate"]
    kind: str  # as in model.kinds.KINDS
    group: str
    version: str
    resources: tuple[str, ...]
    operations: tuple[Operation, ...]


def _hook(verb: Literal["mutate", "validate"], kind: str, group: str, version: str, resources: tuple[str, ...],
          operations: tuple[Operation, ...]) -> Hook:  # fmt: skip
    lowered = kind.lower()
    path = f"/{verb}-{group.replace('.', '-')}-{version}-{lowered}"
    return Hook(f"{verb[0]}{lowered}.kb.io", path, verb, kind, group, version, resources, operations)


_KUEUE, _V = "kueue.x-k8s.io", "v1beta2"

HOOKS: tuple[Hook, ...] = (
    _hook("mutate", "ClusterQueue", _KUEUE, _V, ("clusterqueues",), ("CREATE",)),
    _hook("mutate", "ResourceFlavor", _KUEUE, _V, ("resourceflavors",), ("CREATE",)),
    _hook("mutate", "Workload", _KUEUE, _V, ("workloads",), ("CREATE",)),
    _hook("mutate", "Job", "batch", "v1", ("jobs",), ("CREATE", "UPDATE")),
    _hook("validate", "ClusterQueue", _KUEUE, _V, ("clusterqueues",), ("CREATE", "UPDATE")),
    _hook("validate", "Cohort", _KUEUE, _V, ("cohorts",), ("CREATE", "UPDATE")),
    _hook("validate", "ResourceFlavor", _KUEUE, _V, ("resourceflavors",), ("CREATE", "UPDATE")),
    _hook("validate", "Workload", _KUEUE, _V, ("workloads", "workloads/status"), ("CREATE", "UPDATE")),
    _hook("validate", "Job", "batch", "v1", ("jobs",), ("CREATE", "UPDATE")),
)

BY_PATH = {hook.path: hook for hook in HOOKS}


def hooks_for(kind: str, operation: Operation, subresource: str = "") -> tuple[Hook, ...]:
    """The webhooks such a write passes: those that mutate first."""
    return tuple(
        hook
        for hook in HOOKS
        if hook.kind == kind
        and operation in hook.operations
        and (f"{hook.resources[0]}/{subresource}" if subresource else hook.resources[0]) in hook.resources
    )
