"""What each job kind tells about itself. A module with these functions is a descriptor; adding a kind is adding one."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from admission.model.effects import PodSetInfo
from admission.model.job import Job

Manifest = Mapping[str, Any]


class Descriptor(Protocol):
    """Pure functions on the manifest of one kind. Patches are JSON merge patches of the object."""

    def read(self, manifest: Manifest) -> Job:
        """What the core keeps of it. Total: any JSON object gives a Job."""
        ...

    def pod_sets(self, manifest: Manifest) -> list[dict[str, Any]]:
        """`spec.podSets` of its Workload, pod templates included."""
        ...

    def start(self, manifest: Manifest, infos: Sequence[PodSetInfo]) -> dict[str, Any]:
        """Unsuspend it with `infos`, one per pod set, merged into its templates. Raises PermanentProblem."""
        ...

    def suspend(self) -> dict[str, Any]:
        """Hold it back, and mark that its templates are still to be restored."""
        ...

    def forget_start(self) -> dict[str, Any] | None:
        """A patch of its status that must come between `suspend` and `restore`; None where the kind needs none."""
        ...

    def restore(self, manifest: Manifest, workload: Manifest | None) -> dict[str, Any]:
        """Set the templates back to what the Workload has, and take the mark away; without it only the latter."""
        ...
