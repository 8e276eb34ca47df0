"""A token bucket: so many things a second on average, so many at once after a quiet time."""

from controller.kit.clock import Clock


class Bucket:
    """`rate` tokens a second drip in, `burst` is what it holds. Starts full."""

    def __init__(self, clock: Clock, rate: float, burst: int) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = float(burst)
        self._tokens = float(burst)
        self._at = clock.steady()

    def try_take(self) -> bool:
        """Take a token if one is there."""
        self._drip()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    async def take(self) -> None:
        """Take a token, waiting for one where necessary; callers are served in the order in which they came."""
        self._drip()
        self._tokens -= 1  # below zero: taken on credit, to be waited for; whoever comes later waits longer
        if self._tokens < 0:
            await self._clock.sleep(-self._tokens / self._rate)

    def _drip(self) -> None:
        now = self._clock.steady()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
