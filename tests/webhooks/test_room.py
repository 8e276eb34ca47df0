"""Room for bodies: never more than there is, in order of arrival, and nobody who gives up takes any with him."""

import asyncio
from contextlib import AsyncExitStack

from hypothesis import given
from hypothesis import strategies as st

from webhooks.room import Room


async def test_who_finds_no_room_waits_and_a_large_one_is_not_passed_over() -> None:
    room, order = Room(10), list[str]()

    async def enter(name: str, wanted: int, leave: asyncio.Event) -> None:
        async with room.held(wanted):
            order.append(name)
            await leave.wait()

    leave = {name: asyncio.Event() for name in ("first", "large", "small")}
    tasks = []
    for name, wanted in (("first", 4), ("large", 8), ("small", 1)):
        tasks.append(asyncio.create_task(enter(name, wanted, leave[name])))
        await asyncio.sleep(0)
    assert order == ["first"]
    leave["first"].set()
    await asyncio.gather(tasks[0])
    await asyncio.sleep(0)
    assert order == ["first", "large", "small"]
    for event in leave.values():
        event.set()
    await asyncio.gather(*tasks)


async def test_one_that_is_larger_than_all_room_takes_all_of_it() -> None:
    room = Room(3)
    async with room.held(100):
        waits = asyncio.create_task(_in_and_out(room, 1))
        await asyncio.sleep(0)
        assert not waits.done()
    await waits


async def _in_and_out(room: Room, wanted: int) -> None:
    async with room.held(wanted):
        pass


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), st.booleans()), max_size=12))
def test_it_is_never_overfull_and_empty_again_in_the_end(visits: list[tuple[int, int, bool]]) -> None:
    """Each: bytes, how long it stays, whether it is cancelled while it waits or works."""
    asyncio.run(_visited(visits))


async def _visited(visits: list[tuple[int, int, bool]]) -> None:
    room, inside = Room(10), 0

    async def visit(wanted: int, turns: int) -> None:
        nonlocal inside
        async with room.held(wanted):
            inside += min(wanted, 10)
            assert inside <= 10
            try:
                for _ in range(turns):
                    await asyncio.sleep(0)
            finally:
                inside -= min(wanted, 10)

    tasks = [asyncio.create_task(visit(wanted, turns)) for wanted, turns, _ in visits]
    for task, (_, _, cancelled) in zip(tasks, visits, strict=True):
        await asyncio.sleep(0)
        if cancelled:
            task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        assert outcome is None or isinstance(outcome, asyncio.CancelledError)
    async with AsyncExitStack() as stack, asyncio.timeout(5):
        await stack.enter_async_context(room.held(10))
