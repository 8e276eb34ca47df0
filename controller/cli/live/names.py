"""Every case has namespaces, queues, cohorts, flavors and priority classes of its own: their names get an ending.

Only where a name stands does it get one; taking it away again is simply taking it out of every text, so that objects
and messages are judged, and shown, in the words of the file.
"""

from collections.abc import Mapping
from typing import Any

from admission.model.kinds import Ref
from admission.model.names import NAMESPACE_NAME, PRIORITY_CLASS

LONGEST = 50  # characters: a namespace may have 63, and the ending takes some
# Whose names all cases would share.
_SHARED = frozenset(
    {
        "Namespace",
        "ClusterQueue",
        "Cohort",
        "ResourceFlavor",
        "WorkloadPriorityClass",
        "PriorityClass",
        "AdmissionCheck",
        "Topology",
    }
)
_FIELDS = frozenset({"cohortName", "cohort", "parentName", "parent", "clusterQueue", "priorityClassName"})
_OBJECTS = frozenset({"priorityClassRef"})  # {name: …}
_LISTS = frozenset({"flavors", "admissionChecks", "onFlavors"})  # of names or of {name: …}; or a map to names
_MAPS = frozenset({"labels", "annotations", "nodeLabels", "nodeSelector", "matchLabels"})
_OPEN = frozenset({"kube-system", "kube-public", "kube-node-lease"})  # namespaces that stay everybody's
_SYSTEM_CLASS = "system-"  # priority classes of Kubernetes itself


class Names:
    """`token`: lower-case letters and digits that nothing else on the cluster ends with."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._ending = f"-{token}"

    def mine(self, ref: Ref) -> bool:
        """Whether this object on the cluster belongs to the case."""
        return (ref.namespace or ref.name).endswith(self._ending)

    def ref(self, ref: Ref) -> Ref:
        """The object on the cluster."""
        name = self._own(ref.name) if ref.kind in _SHARED else ref.name
        return Ref(ref.kind, self._own(ref.namespace), name)

    def file_ref(self, ref: Ref) -> Ref:
        """The object as the file names it."""
        return Ref(ref.kind, self._plain(ref.namespace), self._plain(ref.name))

    def to_cluster(self, manifest: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """A manifest or merge patch of an object of this kind."""
        changed: dict[str, Any] = self._walk(manifest)
        meta = changed.get("metadata")
        if isinstance(meta, dict):
            for key in ("name", "namespace") if kind in _SHARED else ("namespace",):
                if key in meta:
                    meta[key] = self._own(meta[key])
        return changed

    def to_cluster_patch(self, operations: Any) -> list[dict[str, Any]]:
        """A JSON Patch: the path says what its value is."""
        changed = []
        for operation in operations:
            path = [part.replace("~1", "/") for part in str(operation.get("path", "")).split("/")]
            if "value" in operation:
                key = path[-2] if path[-1].isdigit() or path[-1] == "-" else path[-1]
                if key == "name" and len(path) > 2:
                    key = next((part for part in reversed(path[:-1]) if part in _LISTS | _OBJECTS), key)
                    value = self._own(operation["value"]) if key in _LISTS | _OBJECTS else operation["value"]
                else:
                    value = self._walk({key: operation["value"]}, path[-2] in _MAPS)[key]
                operation = {**operation, "value": value}
            changed.append(operation)
        return changed

    def to_file(self, value: Any) -> Any:
        """A copy in the words of the file."""
        if isinstance(value, Mapping):
            return {self._plain(key): self.to_file(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.to_file(item) for item in value]
        return self._plain(value) if isinstance(value, str) else value

    def _plain(self, text: str) -> str:
        return text.replace(self._ending, "")

    def _own(self, name: Any) -> Any:
        if not isinstance(name, str) or not name or name in _OPEN or name.endswith(self._ending):
            return name
        return name + self._ending

    def _walk(self, value: Any, in_map: bool = False) -> Any:
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        if value.get("key") == NAMESPACE_NAME and isinstance(value.get("values"), list):
            return {**value, "values": [self._own(name) for name in value["values"]]}
        return {key: self._field(key, item, in_map) for key, item in value.items()}

    def _field(self, key: str, item: Any, in_map: bool) -> Any:
        if key in (PRIORITY_CLASS, NAMESPACE_NAME):
            return self._own(item)
        if in_map:
            return item
        if key in _FIELDS and isinstance(item, str):
            system = key == "priorityClassName" and item.startswith(_SYSTEM_CLASS)
            return item if system else self._own(item)
        if key in _OBJECTS and isinstance(item, Mapping):
            return {**item, "name": self._own(item["name"])} if "name" in item else item
        if key in _LISTS:
            return self._listed(item)
        return self._walk(item, key in _MAPS)

    def _listed(self, item: Any) -> Any:
        if isinstance(item, Mapping):
            return {key: self._own(name) for key, name in item.items()}
        if isinstance(item, list):
            return [
                self._walk({**one, "name": self._own(one["name"])})
                if isinstance(one, Mapping) and "name" in one
                else self._walk(one)
                if isinstance(one, Mapping)
                else self._own(one)
                for one in item
            ]
        return item
