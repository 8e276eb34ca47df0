"""Where two outcomes of one scenario part: the first moment at which they show different things that no rule explains.

What comes after is not compared, for it follows from that. A rule (`rules`) stands for a difference that is documented:
where all of a moment is explained by rules of what is published only, the comparison goes on; where a decision differs,
it ends there.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hack.peer import rules
from hack.peer.memory import AS_USUAL, Waking, play_in_memory
from hack.peer.outcome import Moment, Outcome
from hack.peer.rules import Rule
from hack.peer.scenario import Scenario
from hack.peer.view import Difference, View

ABSENT = "-"
# Not rules but other runs of ours: what differs is gone when those set aside are woken otherwise at this moment.
CROWDED = "who is woken, in a crowded cluster"
STIRRED = "who is woken where Cohorts are declared"


@dataclass(slots=True)
class Verdict:
    """`differences` (at moment `place`) are unexplained; none: they agree, or where they don't it is documented."""

    scenario: Scenario
    peer: Outcome
    ours: Outcome
    place: int = -1
    differences: tuple[Difference, ...] = ()
    explained: Counter[str] = field(default_factory=Counter)
    compared: int = 0  # moments

    @property
    def moment(self) -> Moment | None:
        """At which they part."""
        for outcome in (self.peer, self.ours):
            if 0 <= self.place < len(outcome.moments):
                return outcome.moments[self.place]
        return None


def judge(scenario: Scenario, peer: Outcome, ours: Outcome, *, documented: bool = True) -> Verdict:
    """Compare moment by moment; `documented`: what a rule explains is no difference."""
    verdict = Verdict(scenario, peer, ours)
    waking = AS_USUAL
    for place in range(max(len(peer.moments), len(ours.moments))):
        view = View(scenario, peer, ours, place)
        told = _told_apart(view, documented)
        if documented and _open(told) and _usually_open(view, waking):
            for name, other in _otherwise(scenario, waking, place):
                anew = _woken(scenario, other)
                again = _told_apart(View(scenario, peer, anew, place), documented)
                if not _open(again):
                    verdict.explained.update([name])
                    ours, told, waking = anew, again, other
                    break
        verdict.explained.update({rule.name for rule in told.values() if rule is not None})
        if _open(told):
            verdict.place, verdict.differences = place, _open(told)
            return verdict
        if any(rule is not None and rule.decides for rule in told.values()):
            return verdict
        verdict.compared += 1
    if peer.broken or ours.broken:
        verdict.differences = (Difference(("broken",), peer.broken, ours.broken),)
    return verdict


def _woken(scenario: Scenario, waking: Waking) -> Outcome:
    """Ours in memory, woken like that. Raises RuntimeError where it breaks: that must not pass for disagreement."""
    outcome = play_in_memory(scenario, waking)
    if outcome.broken and waking != AS_USUAL:
        raise RuntimeError(f"{scenario.name}, woken otherwise: {outcome.broken}")
    return outcome


def _usually_open(view: View, waking: Waking) -> bool:
    """Whether our core in memory, too, differs from the peer at this moment: what only a live run shows is no matter of
    waking."""
    usual = _woken(view.scenario, waking)
    return bool(_open(_told_apart(View(view.scenario, view.peer, usual, view.place), documented=True)))


def _otherwise(scenario: Scenario, waking: Waking, place: int) -> Iterator[tuple[str, Waking]]:
    """Other ways to wake at this moment, which Kueue has; with the names of what documents them."""
    crowded, stirred = waking.crowded | {place}, waking.stirred | {place}
    yield CROWDED, waking._replace(crowded=crowded)
    if any(manifest["kind"] == "Cohort" for manifest in scenario.objects):
        yield STIRRED, waking._replace(stirred=stirred)
        yield STIRRED, Waking(crowded, stirred)


def _told_apart(view: View, documented: bool) -> dict[Difference, Rule | None]:
    """All that differs at this moment, with the rule that it is an instance of."""
    return {difference: rules.explain(view, difference) if documented else None for difference in _moments(view)}


def _open(told: dict[Difference, Rule | None]) -> tuple[Difference, ...]:
    """What nothing explains. Where a decision differs, all else follows from that."""
    if any(rule is not None and rule.decides for rule in told.values()):
        return ()
    return tuple(difference for difference, rule in told.items() if rule is None)


def _moments(view: View) -> Iterator[Difference]:
    peer, ours = view.peer_moment, view.our_moment
    if _told(peer) != _told(ours):
        yield Difference(("moment",), _told(peer), _told(ours))
    if peer is None or ours is None:
        return
    if bool(peer.answer) != bool(ours.answer):
        yield Difference(("answer",), peer.answer, ours.answer)
    if bool(peer.restless) != bool(ours.restless):
        yield Difference(("restless",), peer.restless, ours.restless)
    yield from differences((), peer.shows, ours.shows)


def _told(moment: Moment | None) -> str:
    return ABSENT if moment is None else f"{moment.event} {moment.released} {moment.what.get('ref', '')}".strip()


def differences(path: tuple[str, ...], peer: Any, ours: Any) -> Iterator[Difference]:
    """Leaf by leaf. Of a condition only the fact and its reason: sentences are compared elsewhere."""
    if isinstance(peer, dict) and isinstance(ours, dict):
        for key in dict.fromkeys([*peer, *ours]):
            yield from differences((*path, key), peer.get(key), ours.get(key))
        return
    if len(path) > 1 and path[-2] == "conditions":
        peer, ours = (None if one is None else tuple(one[:2]) for one in (peer, ours))
    if path and path[-1] == "message":
        return
    if peer != ours:
        yield Difference(path, _frozen(peer), _frozen(ours))


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return repr(value) if isinstance(value, dict) else value
