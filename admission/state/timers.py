"""What is to be looked at again at a later time. Ties go by the order in which they were asked for."""

import heapq
from collections.abc import Hashable

# A refused write is tried again after 1, 2, 4 … 60 s: its cause is a rule or an outage, and neither ends at once.
RETRY_FIRST, RETRY_LAST = 1.0, 60.0


def patience(failures: int) -> float:
    """Seconds to wait after so many failures in a row."""
    return min(RETRY_LAST, RETRY_FIRST * 2.0 ** min(failures - 1, 10))


class Timers:
    """Each thing has one time, the earliest that was asked for: whoever looks at it then asks again."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Hashable]] = []
        self._when: dict[Hashable, float] = {}
        self._asked = 0

    def at(self, when: float, what: Hashable) -> None:
        """`what` comes out of `due` from then on."""
        if self._when.get(what, when + 1) <= when:
            return
        self._asked += 1
        self._when[what] = when
        heapq.heappush(self._heap, (when, self._asked, what))

    def wake(self, when: float) -> None:
        """A plan is to be made then, whatever for."""
        self.at(when, None)

    def due(self, now: float) -> list[Hashable]:
        """Takes out everything whose time has come, in order of time."""
        out = []
        while self._heap and self._heap[0][0] <= now:
            when, _, what = heapq.heappop(self._heap)
            if self._when.get(what) == when:
                del self._when[what]
                if what is not None:
                    out.append(what)
        return out

    def only(self, *kinds: str) -> bool:
        """Whether nothing is asked for but looks of these kinds, (kind, …)."""
        return all(isinstance(what, tuple) and what[0] in kinds for what in self._when)

    @property
    def next(self) -> float | None:
        return self._heap[0][0] if self._heap else None
