"""What each job kind tells about itself. A module with these functions is a descriptor; adding a kind is adding one."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from admission.jobs.hold import Hold
from admission.model.effects import PodSetInfo
from admission.model.job import Job

Manifest = Mapping[str, Any]
# How a job that runs is stopped. Suspend: one patch holds it and restores its templates. InSteps: held first, its
# status forgotten, then restored. Delete: nothing else stops it. Never: it runs to its end.
Stop = Literal["Suspend", "InSteps", "Delete", "Never"]


class Descriptor(Protocol):
    """Pure functions on the manifest of one kind. Patches are JSON merge patches of the object."""

    @property
    def hold(self) -> Hold:
        """What keeps it from starting: a new job that must wait gets it, however such jobs are stopped later."""
        ...

    @property
    def stop(self) -> Stop: ...

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
        """Hold it back; of a kind that stops in steps also mark that its templates are still to be restored."""
        ...

    def forget_start(self) -> dict[str, Any] | None:
        """A patch of its status that must come between `suspend` and `restore`; None where the kind needs none."""
        ...

    def restore(self, manifest: Manifest, workload: Manifest | None) -> dict[str, Any]:
        """Hold it, set its templates back to what the Workload has, and take the mark away; without a Workload all but
        the templates."""
        ...
