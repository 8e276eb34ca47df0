"""A contestant that comes to a halt: Kueue may try again, Lockgate may not."""

import pytest

from hack.bench import __main__ as bench
from hack.bench import run
from hack.bench.contestants import KUEUE, LOCKGATE, Contestant
from hack.bench.driver import Stalled
from hack.bench.mix import Mix


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of those who played; each comes to a halt."""
    names: list[str] = []

    def play(contestant: Contestant, *_: object) -> None:
        names.append(contestant.name)
        raise Stalled("nothing happens")

    monkeypatch.setattr(run, "play", play)
    return names


@pytest.mark.parametrize(("contestant", "times"), [(KUEUE, bench.KUEUE_ATTEMPTS), (LOCKGATE, 1)])
def test_only_the_peer_plays_again_after_a_halt_and_not_for_ever(
    played: list[str], contestant: Contestant, times: int
) -> None:
    with pytest.raises(Stalled):
        bench._play(contestant, Mix(()))
    assert played == [contestant.name] * times
