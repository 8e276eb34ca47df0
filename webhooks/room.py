"""Room for request bodies: so many bytes at once, however many requests come. Who finds none waits for its turn."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """`size` in bytes. First come, first served: a large one is not passed over for ever."""

    def __init__(self, size: int) -> None:
        self.size = self._free = size
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def held(self, wanted: int) -> AsyncIterator[None]:
        """While inside `wanted` bytes are taken, at most all there are."""
        wanted = min(wanted, self.size)
        await self._take(wanted)
        try:
            yield
        finally:
            self._give(wanted)

    async def _take(self, wanted: int) -> None:
        if not self._waiting and wanted <= self._free:
            self._free -= wanted
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((wanted, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # its turn had come in the same moment
                self._give(wanted)
            self._give(0)  # it may have stood before others
            raise

    def _give(self, back: int) -> None:
        self._free += back
        while self._waiting and (self._waiting[0][0] <= self._free or self._waiting[0][1].cancelled()):
            wanted, turn = self._waiting.popleft()
            if not turn.cancelled():
                self._free -= wanted
                turn.set_result(None)
