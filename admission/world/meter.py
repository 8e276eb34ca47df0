"""What queues held over the time of a simulation: added up moment by moment, as only the present can be asked."""

from admission.model.queues import FlavorResource
from admission.world.simulation import Simulation


class Meter:
    """Call `step` at every moment at which something has happened, and `end` last."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._queues = sorted(simulation.state.objects.cluster_queues)
        self._since = 0.0
        self._held: dict[tuple[str, FlavorResource], int] = {}
        self.peaks: dict[tuple[str, FlavorResource], int] = {}
        self.unit_seconds: dict[tuple[str, FlavorResource], float] = {}

    def step(self) -> None:
        self._add(self._simulation.now)
        scheduler = self._simulation.state.scheduler
        self._held = {(queue, fr): units for queue in self._queues for fr, units in scheduler.usage(queue).items()}
        for place, units in self._held.items():
            self.peaks[place] = max(self.peaks.get(place, 0), units)

    def end(self, at: float) -> None:
        """What is held now is held until `at`, in seconds from the start."""
        self._add(at)

    def _add(self, now: float) -> None:
        for place, units in self._held.items():
            self.unit_seconds[place] = self.unit_seconds.get(place, 0.0) + units * (now - self._since)
        self._since = now
