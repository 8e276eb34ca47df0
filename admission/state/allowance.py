"""So many writes a second and so many at once, in State's own time: for what people read, which may come late."""

LEAST = 0.01  # of a write: what rounding leaves missing would be waited for without the clock moving


class Allowance:
    """Starts full."""

    def __init__(self, a_second: float, at_once: int) -> None:
        self._rate = a_second
        self._most = float(at_once)
        self._left, self._at = self._most, 0.0

    def allows(self, now: float) -> bool:
        """One more may be written now; `spend` says that it was."""
        self._left = min(self._most, self._left + max(0.0, now - self._at) * self._rate)
        self._at = now
        return self._left >= 1

    def spend(self) -> None:
        self._left -= 1

    @property
    def next(self) -> float:
        """When one more may be written, seen from the last look: later than that."""
        return self._at + max(1 - self._left, LEAST) / self._rate
