"""Objects by key, findable through named indexes: what a process remembers of one kind.

A fence per key keeps late news out: an older version never replaces a newer one, and an object told gone does not
come back through an event that was still under way.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from admission.model.kinds import Ref

T = TypeVar("T")


class Store(Generic[T]):
    """`indexes` maps a name to a function: value -> the entries under which it is found."""

    def __init__(self, **indexes: Callable[[T], Iterable[str]]) -> None:
        self._values: dict[Ref, tuple[int, T]] = {}
        self._indexes = indexes
        self._found: dict[str, dict[str, dict[Ref, None]]] = {name: {} for name in indexes}
        self.synced = False  # set by whoever fills it, once a first list is complete

    def put(self, ref: Ref, value: T, resource_version: int) -> bool:
        """Remember the value; False when a newer one is known already."""
        old = self._values.get(ref)
        if old is not None:
            if resource_version < old[0]:
                return False
            self._unindex(ref, old[1])
        self._values[ref] = (resource_version, value)
        for name, entries in self._indexes.items():
            for entry in entries(value):
                self._found[name].setdefault(entry, {})[ref] = None
        return True

    def drop(self, ref: Ref, resource_version: int | None = None) -> bool:
        """Forget it; False when it is unknown or a newer one has come since."""
        old = self._values.get(ref)
        if old is None or (resource_version is not None and resource_version < old[0]):
            return False
        del self._values[ref]
        self._unindex(ref, old[1])
        return True

    def get(self, ref: Ref) -> T | None:
        found = self._values.get(ref)
        return None if found is None else found[1]

    def by(self, index: str, entry: str) -> list[T]:
        """All values found under the entry, in the order in which they came."""
        return [self._values[ref][1] for ref in self._found[index].get(entry, ())]

    def values(self) -> Iterator[T]:
        return (value for _, value in self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, ref: object) -> bool:
        return ref in self._values

    def _unindex(self, ref: Ref, value: T) -> None:
        for name, entries in self._indexes.items():
            found = self._found[name]
            for entry in entries(value):
                refs = found.get(entry)
                if refs is not None:
                    refs.pop(ref, None)
                    if not refs:
                        del found[entry]
