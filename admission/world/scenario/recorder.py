"""What a run in memory leaves behind for judging (`facts.Facts`), and the names of the file as the world knows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from admission.model.kinds import Ref
from admission.world.objects import Frozen, kind_key, ref_of
from admission.world.scenario.facts import Asked, WriteSeen
from admission.world.scenario.foreign import ForeignQueues
from admission.world.scenario.naming import Manifest, by_name
from admission.world.stage import Stage
from admission.world.store import Change


class Recorder:
    def __init__(self, world: Stage, manifests: Sequence[Manifest], start: float) -> None:
        self._world = world
        self._start = start
        self._manifests = by_name(manifests)
        self.foreign = ForeignQueues(manifests)
        self._asked: dict[str, list[Asked]] = {}
        self._flip: float | None = None
        self._owned: dict[Ref, dict[str, None]] = {}
        world.subscribe("Workload", self._note)

    @property
    def t(self) -> float:
        """Virtual seconds since the start."""
        return self._world.now - self._start

    def ref(self, name: str) -> Ref:
        """The object that a name of the file means (of a `prefix*`: with the prefix for a name)."""
        kind, _, rest = name.partition("/")
        manifest = self._manifests.get(name)
        key = kind_key(manifest) if manifest is not None else kind
        namespace, _, bare = rest.rpartition("/")
        return Ref(key, namespace, bare)

    def note_request(self, id: str, asked: Asked) -> None:
        self._asked.setdefault(id, []).append(asked)

    # Facts

    def find(self, ref: str) -> Sequence[Frozen]:
        target = self.ref(ref)
        if not target.name.endswith("*"):
            found = self._world.api.peek(target)
            return [] if found is None else [found]
        prefix = target.name[:-1]
        return [
            manifest
            for manifest in self._world.api.scan(target.kind, target.namespace)
            if manifest["metadata"].get("generateName") == prefix
        ]

    def in_version(self, manifest: Frozen, version: str) -> Frozen | None:
        return self._world.api.peek_as(ref_of(manifest), version)

    def workloads_of(self, ref: str) -> Sequence[Frozen]:
        owners = {manifest["metadata"]["uid"] for manifest in self.find(ref)}
        return [
            workload
            for workload in self._world.api.scan("Workload")
            if any(owner["uid"] in owners for owner in workload["metadata"].get("ownerReferences") or ())
        ]

    def workloads(self, namespace: str) -> Sequence[Frozen]:
        return list(self._world.api.scan("Workload", namespace))

    def asked(self, id: str) -> Sequence[Asked]:
        return self._asked.get(id, [])

    def evictions(self, names: Sequence[str] | None) -> int:
        return sum(
            names is None or f"{eviction.workload.namespace}/{eviction.workload.name}" in names
            for eviction in self._world.evictions
        )

    def names_ever_owned(self, ref: str) -> Sequence[str]:
        return list(self._owned.get(self.ref(ref), ()))

    def writes(self, ref: str) -> Sequence[WriteSeen]:
        target = self.ref(ref)
        return [
            WriteSeen(write.at - self._start, str(write.ref), write.code)
            for write in self._world.writes
            if write.ref == target
        ]

    def last_flip(self) -> float | None:
        return self._flip

    def kai_shares(self, resource: str) -> Mapping[str, int]:
        return self.foreign.shares(resource)

    def event_sent(self, reason: str, about: str) -> bool:
        target = self.ref(about)
        return any(sent.reason == reason and sent.about == target for sent in self._world.events)

    def _note(self, change: Change) -> None:
        if change.type == "DELETED":
            return
        if _truths(change.old) != _truths(change.new):
            self._flip = self.t
        meta = change.new["metadata"]
        for owner in meta.get("ownerReferences") or ():
            ref = Ref(kind_key(owner), meta.get("namespace", ""), owner["name"])
            self._owned.setdefault(ref, {})[f"{meta['namespace']}/{meta['name']}"] = None


def _truths(workload: Frozen | None) -> dict[str, Any]:
    """Conditions that are not False; one that appears as False has not changed anything."""
    conditions = ((workload or {}).get("status") or {}).get("conditions") or ()
    return {entry["type"]: entry["status"] for entry in conditions if entry["status"] != "False"}
