"""The one field that keeps a job from starting: nearly every kind has one, under its own name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from admission.jobs.places import Path, nested, replaced, value_at


@dataclass(frozen=True, slots=True)
class Hold:
    """`path` leads to it, through mappings only. `released` None: the field is taken away. `while_set`: any value
    holds the job, and one that is not `held` is somebody else's."""

    path: Path
    held: Any = True
    released: Any = False
    while_set: bool = False

    def holds(self, manifest: Mapping[str, Any]) -> bool:
        """Whether the job is held now."""
        found = value_at(manifest, self.path)
        return self._ours(found) or (self.while_set and found is not None)

    def is_foreign(self, manifest: Mapping[str, Any]) -> bool:
        """Whether somebody else holds it."""
        found = value_at(manifest, self.path)
        return self.while_set and found is not None and not self._ours(found)

    def _ours(self, found: object) -> bool:
        return type(found) is type(self.held) and found == self.held

    def patch(self, held: bool) -> dict[str, Any]:
        """A merge patch that holds the job, or lets it go."""
        return nested(self.path, self.held if held else self.released)

    def set(self, manifest: Mapping[str, Any], held: bool) -> Mapping[str, Any]:
        """The manifest as that patch leaves it."""
        result: Mapping[str, Any] = replaced(manifest, self.path, self.held if held else self.released)
        return result


@dataclass(frozen=True, slots=True)
class Former:
    """A field that held jobs of the kind until `until` (seconds since 1970; None: until now)."""

    hold: Hold
    until: float | None = None

    def holds(self, manifest: Mapping[str, Any], created: float) -> bool:
        """Whether a job that was made then is still held by it."""
        return (self.until is None or created <= self.until) and self.hold.holds(manifest)


SUSPEND = Hold(("spec", "suspend"))
