"""A made-up cluster and what happens to it, in the words of scenario files.

Events are those of `lockgate test` without times, for each waits until everything is at rest. Two are looser: one with
`pick` happens to a workload in the state that it names, whichever that is by then; and `check` plays the controller of
an AdmissionCheck. `hold` leaves the evicted of that event with their quota, as if their pods took long to end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Manifest = Mapping[str, Any]
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """`settings` names the Configuration that both run with. What no event creates is there from the start."""

    name: str
    settings: str
    objects: tuple[Manifest, ...]
    events: tuple[Event, ...]
    features: frozenset[str] = field(default=frozenset())  # what the generator put in; not what came to matter

    @property
    def first(self) -> list[Manifest]:
        """What exists from the start, in order."""
        created = {event["ref"] for event in self.events if event["op"] == "create"}
        return [manifest for manifest in self.objects if named(manifest) not in created]

    def manifest(self, name: str) -> Manifest:
        """The object of this name. KeyError."""
        for manifest in self.objects:
            if named(manifest) == name:
                return manifest
        raise KeyError(name)

    def but(self, **changes: Any) -> "Scenario":
        """A copy that differs in these."""
        return replace(self, **changes)

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return {
            "name": self.name,
            "settings": self.settings,
            "objects": list(self.objects),
            "events": list(self.events),
            "features": sorted(self.features),
        }


def from_json(said: Mapping[str, Any]) -> Scenario:
    """What `as_json` gave."""
    return Scenario(
        said["name"], said["settings"], tuple(said["objects"]), tuple(said["events"]), frozenset(said["features"])
    )


def named(manifest: Manifest) -> str:
    """`Kind/namespace/name`, as scenario files write it."""
    meta = manifest["metadata"]
    where = f"{meta['namespace']}/" if "namespace" in meta else ""
    return f"{manifest['kind']}/{where}{meta['name']}"
