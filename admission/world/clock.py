"""The virtual clock: what is due when. Equal moments fire in the order in which they were asked for."""

import heapq
from collections.abc import Callable
from itertools import count

EPOCH = 1767225600.0  # 2026-01-01T00:00:00Z: where a world begins unless told otherwise


class Timer:
    """Something due at a moment (seconds since 1970); `cancelled` ones never fire."""

    __slots__ = ("action", "cancelled", "when")

    def __init__(self, when: float, action: Callable[[], None]) -> None:
        self.when = when
        self.action = action
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now
        self._order = count()
        self._heap: list[tuple[float, int, Timer]] = []

    def at(self, when: float, action: Callable[[], None]) -> Timer:
        """Fire `action` at `when`, or at the present moment if that has passed."""
        timer = Timer(max(when, self.now), action)
        heapq.heappush(self._heap, (timer.when, next(self._order), timer))
        return timer

    def next_due(self) -> float | None:
        """The moment of the next timer."""
        while self._heap and self._heap[0][2].cancelled:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def fire(self, moment: float) -> None:
        """Move to `moment` and fire what is due by then, also what that puts there."""
        self.now = max(self.now, moment)
        while (due := self.next_due()) is not None and due <= self.now:
            heapq.heappop(self._heap)[2].action()
