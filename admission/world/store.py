"""What the in-memory API server holds: objects, one version counter, uids by order of creation, watches.

Uids are zero-padded, so that their order as strings is the order of creation.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from admission.model.kinds import Ref
from admission.world.objects import Frozen

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]


class Change(NamedTuple):
    """One committed write. `new` of a DELETED is the last state, with the version of the deletion."""

    type: ChangeType
    ref: Ref
    old: Frozen | None
    new: Frozen
    version: int


class Watch:
    """A stream of changes of one kind, waiting to be taken. `broken`: the stream ended; list again, watch again."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.waiting: deque[Change] = deque()
        self.broken = False

    def drain(self) -> Iterator[Change]:
        while self.waiting:
            yield self.waiting.popleft()


class Store:
    def __init__(self) -> None:
        self.version = 0
        self._uids = 0
        self._names = 0
        self._kinds: dict[str, dict[Ref, Frozen]] = {}
        self._spaces: dict[str, dict[Ref, None]] = {}
        self._uid_refs: dict[str, Ref] = {}
        self._dependents: dict[str, dict[Ref, None]] = {}
        self._watches: dict[str, list[Watch]] = {}
        self._listeners: list[Callable[[Change], None]] = []

    def get(self, ref: Ref) -> Frozen | None:
        return self._kinds.get(ref.kind, {}).get(ref)

    def items(self, kind: str) -> Iterator[Frozen]:
        """All objects of a kind in order of creation; writing while iterating is allowed."""
        return iter(list(self._kinds.get(kind, {}).values()))

    @property
    def size(self) -> int:
        """How many objects there are."""
        return len(self._uid_refs)

    def kinds(self) -> list[str]:
        return list(self._kinds)

    def in_namespace(self, namespace: str) -> list[Ref]:
        return list(self._spaces.get(namespace, ()))

    def by_uid(self, uid: str) -> Ref | None:
        return self._uid_refs.get(uid)

    def dependents(self, uid: str) -> list[Ref]:
        """Objects that name this uid among their owners."""
        return list(self._dependents.get(uid, ()))

    def next_uid(self) -> str:
        self._uids += 1
        return f"00000000-0000-4000-8000-{self._uids:012d}"

    def next_suffix(self) -> str:
        """For generateName: five characters, in order of creation."""
        self._names += 1
        return f"{self._names:05d}"

    def watch(self, kind: str) -> Watch:
        stream = Watch(kind)
        self._watches.setdefault(kind, []).append(stream)
        return stream

    def stop(self, stream: Watch) -> None:
        self._watches[stream.kind] = [other for other in self._watches[stream.kind] if other is not stream]

    def listen(self, listener: Callable[[Change], None]) -> None:
        """Call `listener` with every change at the moment it is committed."""
        self._listeners.append(listener)

    def put(self, ref: Ref, old: Frozen | None, new: Frozen) -> Frozen:
        """Commit `new`; returns it with its version."""
        self.version += 1
        new = {**new, "metadata": {**new["metadata"], "resourceVersion": str(self.version)}}
        self._kinds.setdefault(ref.kind, {})[ref] = new
        self._index(ref, old, new)
        self._tell(Change("MODIFIED" if old is not None else "ADDED", ref, old, new, self.version))
        return new

    def remove(self, ref: Ref, old: Frozen) -> Frozen:
        """Commit the end of an object; returns its last state with the version of the deletion."""
        self.version += 1
        last = {**old, "metadata": {**old["metadata"], "resourceVersion": str(self.version)}}
        del self._kinds[ref.kind][ref]
        self._index(ref, old, None)
        self._tell(Change("DELETED", ref, old, last, self.version))
        return last

    def _index(self, ref: Ref, old: Frozen | None, new: Frozen | None) -> None:
        if old is None and new is not None:
            self._uid_refs[new["metadata"]["uid"]] = ref
            if ref.namespace:
                self._spaces.setdefault(ref.namespace, {})[ref] = None
        if new is None and old is not None:
            del self._uid_refs[old["metadata"]["uid"]]
            if ref.namespace:
                del self._spaces[ref.namespace][ref]
        before = (old or {}).get("metadata", {}).get("ownerReferences")
        after = (new or {}).get("metadata", {}).get("ownerReferences")
        if before is after:
            return
        for owner in before or ():
            self._dependents.get(owner["uid"], {}).pop(ref, None)
        for owner in after or ():
            self._dependents.setdefault(owner["uid"], {})[ref] = None

    def _tell(self, change: Change) -> None:
        for stream in self._watches.get(change.ref.kind, ()):
            stream.waiting.append(change)
        for listener in self._listeners:
            listener(change)
