"""Koordinator's ElasticQuota: its words, and what the core keeps of the objects and of the pods that count in them.

Units as in `admission.model.amounts`, by resource. Only resources that `max` names count in a quota.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

PREFIX = "quota.scheduling.koordinator.sh/"
# Labels of quotas.
IS_PARENT, PARENT, TREE, IS_ROOT = (f"{PREFIX}{word}" for word in ("is-parent", "parent", "tree-id", "is-root"))
LENDS, FORCED, IGNORES_DEFAULT = (
    f"{PREFIX}{word}" for word in ("allow-lent-resource", "allow-force-update", "ignore-default-tree")
)
# Labels of pods.
QUOTA_NAME, PREEMPTIBLE = f"{PREFIX}name", f"{PREFIX}preemptible"
# Annotations that people write …
WEIGHT, NAMESPACES, TOTAL, STRICT_KEYS = (
    f"{PREFIX}{word}" for word in ("shared-weight", "namespaces", "total-resource", "max-strict-check-resource-keys")
)
# … and those that are published.
RUNTIME, REQUEST, CHILD_REQUEST = (f"{PREFIX}{word}" for word in ("runtime", "request", "child-request"))

ROOT, SYSTEM, DEFAULT = "koordinator-root-quota", "koordinator-system-quota", "koordinator-default-quota"
BUILT_IN = (ROOT, SYSTEM, DEFAULT)

Units = Mapping[str, int]
NO_UNITS: Units = {}


@dataclass(frozen=True, slots=True)
class ElasticQuota:
    """Names are unique over all namespaces. `parent`: never empty, but of a tree's root."""

    namespace: str
    name: str
    uid: str = ""
    resource_version: int = 0
    created: float = 0.0
    deleting: bool = False
    parent: str = ROOT
    is_parent: bool = False
    is_root: bool = False
    tree: str = ""
    lends: bool = True
    forced: bool = False  # the sums of minimums are not looked at
    ignores_default: bool = False  # of a tree's root: what the tree has is not taken from the default tree
    min: Units = field(default_factory=dict)
    max: Units = field(default_factory=dict)
    weight: Units = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()  # whose pods belong here though they name no quota
    total: Units | None = None  # of a tree's root: what the tree has
    used: Mapping[str, str] = field(default_factory=dict)  # status.used as it stands
    published: Mapping[str, str] = field(default_factory=dict)  # annotations of ours as they stand
    problems: tuple[str, ...] = ()  # what of it is not readable, as sentences

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def as_written(self) -> "ElasticQuota":
        """Without what moves whenever figures are published."""
        return replace(self, resource_version=0, used={}, published={})


@dataclass(frozen=True, slots=True)
class QuotaPod:
    """A pod, as far as quotas are concerned."""

    namespace: str
    name: str
    resource_version: int = 0
    quota: str = ""  # that it names
    workload: str = ""  # of our own, that it was started for
    requests: Units = field(default_factory=dict)
    placed: bool = False  # it holds a node
    over: bool = False  # it has ended


@dataclass(frozen=True, slots=True)
class NodeCapacity:
    """What a node has for pods, whether or not it takes new ones now."""

    name: str
    resource_version: int = 0
    allocatable: Units = field(default_factory=dict)


class Bindings:
    """Which quota a pod belongs to: that which it names, else that which is called like its namespace and lives there,
    else that which lists the namespace; whoever is left belongs to the default group."""

    def __init__(self, quotas: Iterable[ElasticQuota]) -> None:
        # Of two of one name the older one counts: the webhook lets no second one in.
        self.by_name: dict[str, ElasticQuota] = {}
        for quota in sorted(quotas, key=lambda one: (one.created, one.namespace)):
            self.by_name.setdefault(quota.name, quota)
        self._listing: dict[str, str] = {}
        for name, quota in sorted(self.by_name.items()):
            for namespace in quota.namespaces:
                self._listing.setdefault(namespace, name)

    def quota_of(self, named: str, namespace: str) -> str:
        """`named`: by the pod's label. A name that no quota has leads to the default group until there is one."""
        if named:
            return named if named in self.by_name or named == SYSTEM else DEFAULT
        home = self.by_name.get(namespace)
        if home is not None and home.namespace == namespace:
            return namespace
        return self._listing.get(namespace, DEFAULT)
