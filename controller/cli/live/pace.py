"""The scenario's time against the world's: it stands still while the cluster comes to rest, runs along while a timer of
the product is waited for, and leaps over the gaps in which nothing is due.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any

from admission.model.times import BadTime, seconds, stamp

_STAMPS = frozenset(
    {
        "creationTimestamp",
        "deletionTimestamp",
        "lastTransitionTime",
        "lastProbeTime",
        "startTime",
        "completionTime",
        "requeueAt",
    }
)


class Pace:
    """Both times are seconds since 1970. `real` gives the world's."""

    def __init__(self, start: float, real: Callable[[], float]) -> None:
        self.real = real
        self._began = [real()]  # of each stretch, in the world's time
        self._stretches = [(start, False)]  # the scenario's time at its beginning, and whether it runs

    @property
    def now(self) -> float:
        """The scenario's present moment."""
        return self.of(self.real())

    def stand(self, at: float) -> None:
        """Stand still at this moment of the scenario."""
        self._begin(at, runs=False)

    def run(self, since: float) -> None:
        """Run along from this moment of the scenario."""
        self._begin(since, runs=True)

    def _begin(self, at: float, *, runs: bool) -> None:
        self._began.append(self.real())
        self._stretches.append((at, runs))

    def of(self, real: float) -> float:
        """The scenario's moment at this moment of the world; what lies ahead is as far ahead as there."""
        index = max(0, bisect_right(self._began, real) - 1)
        at, runs = self._stretches[index]
        passed = real - self._began[index]
        last = index == len(self._began) - 1
        ahead = max(0.0, real - self.real())
        if not runs:
            return at + (ahead if last else 0.0)
        return at + passed if last else min(at + passed, self._stretches[index + 1][0])

    def to_real(self, moment: float) -> float:
        """The world's moment that is as far from now."""
        return self.real() + (moment - self.now)

    def stamps_of(self, value: Any) -> Any:
        """A manifest of the cluster with the scenario's times."""
        return _stamped(value, self.of)

    def real_stamps(self, value: Any) -> Any:
        """A manifest of the scenario with the world's times."""
        return _stamped(value, self.to_real)


def _stamped(value: Any, change: Callable[[float], float], key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {name: _stamped(item, change, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_stamped(item, change) for item in value]
    if key in _STAMPS and isinstance(value, str):
        try:
            return stamp(change(seconds(value)))
        except BadTime:
            return value
    return value
