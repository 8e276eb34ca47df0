"""What queues held over the time of a simulation: added up as it changes, since only the present can be asked."""

from admission.model.queues import FlavorResource
from admission.model.workload import Workload
from admission.reconcile.usage import usage_of
from admission.world.simulation import Simulation

Place = tuple[str, FlavorResource]  # a ClusterQueue, and what of it


class Meter:
    """Make it before the simulation runs; call `step` at every moment at which something has happened, `end` last."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._held: dict[Place, int] = {}
        self._since: dict[Place, float] = {}  # so much is held
        self._moved: dict[Place, int] = {}  # at this moment
        self.peaks: dict[Place, int] = {}
        self.unit_seconds: dict[Place, float] = {}
        simulation.state.tell(self._changed)

    def step(self) -> None:
        moved, self._moved = self._moved, {}
        for place, units in moved.items():
            self._add(place, self._simulation.now)
            held = self._held[place] = self._held.get(place, 0) + units
            self.peaks[place] = max(self.peaks.get(place, 0), held)

    def end(self, at: float) -> None:
        """What is held now is held until `at`, in seconds from the start."""
        for place in self._held:
            self._add(place, at)

    def _changed(self, before: Workload | None, after: Workload | None) -> None:
        for workload, sign in ((before, -1), (after, 1)):
            if workload is not None and workload.holds_quota and workload.admission is not None:
                for fr, units in usage_of(workload).items():
                    place = workload.admission.cluster_queue, fr
                    self._moved[place] = self._moved.get(place, 0) + sign * units

    def _add(self, place: Place, now: float) -> None:
        lasted = now - self._since.get(place, 0.0)
        self._since[place] = now
        self.unit_seconds[place] = self.unit_seconds.get(place, 0.0) + self._held.get(place, 0) * lasted
