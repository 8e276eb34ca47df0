"""Documented differences in who is preempted and who comes back: what must be so that each may be seen."""

from typing import Any

from hack.peer.outcome import Moment
from hack.peer.view import Difference, View, expects_victims, holds, is_true, preemptions, waits


def taken_back(view: View, found: Difference) -> bool:
    """Somebody who was preempted gave its quota back at this moment, and in the peer has it again. There it had to
    leave once more at once; or in ours another has it, who waited for just that."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None or not peer.released:
        return False
    name = peer.released.partition("/")[2]
    back, here = peer.shows["workloads"].get(name, {}), ours.shows["workloads"].get(name, {})
    before: dict[str, Any] = view.before("workloads") or {}
    if not is_true(back, "QuotaReserved") or before[name]["conditions"].get("Evicted", ("", ""))[1] != "Preempted":
        return False
    if preemptions(back) > max(preemptions(before[name]), preemptions(here)):
        return True
    if is_true(here, "QuotaReserved"):
        return False
    return any(
        expects_victims(one) and _has_got(ours.shows["workloads"].get(who, {}), one) for who, one in before.items()
    )


def _has_got(after: dict[str, Any], before: dict[str, Any]) -> bool:
    """It holds quota now, or did in between."""
    return is_true(after, "QuotaReserved") or after.get("evictions") != before.get("evictions")


def after_whom_it_left_for(view: View, found: Difference) -> bool:
    """Two wait, of whom one once had to leave for the other. In the peer it has got quota now and the other waits; in
    ours it is the other way round."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None:
        return False
    waited = [name for name, one in (view.before("workloads") or {}).items() if waits(one)]
    there = {name for name in waited if holds(peer.shows["workloads"].get(name, {}))}
    here = {name for name in waited if holds(ours.shows["workloads"].get(name, {}))}
    return any(other in here - there for name in there - here for other in _left_for(view, name)[1])


def _left_for(view: View, victim: str) -> tuple[int, set[str]]:
    """The last moment before this one at which the peer preempted it, and for whom that may have been: those of the
    preemptor's queue who then waited for victims. (-1, nobody) if it never did."""
    for place in range(view.place - 1, 0, -1):
        before, then = (view.peer.moments[at].shows["workloads"] for at in (place - 1, place))
        if victim in then and preemptions(then[victim]) > preemptions(before.get(victim, {})):
            queue = then[victim]["conditions"]["Preempted"][2].partition("preemptor path: ")[2].partition(";")[0]
            waiting = {name for name, one in then.items() if expects_victims(one)}
            return place, {name for name in waiting if view.queue_of(name) == queue.rpartition("/")[2]}
    return -1, set()


def came_back(view: View, found: Difference) -> bool:
    """The peer preempts somebody by shares again for the same one, with nothing but releases in between; ours does
    not."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None or not peer.released:
        return False
    for name in _newly_preempted(view, peer) - _newly_preempted(view, ours):
        shown = peer.shows["workloads"]
        place, by = _left_for(view, name)
        by_shares = shown[name]["conditions"]["Preempted"][1] == "InCohortFairSharing"
        again = any(expects_victims(shown[one]) for one in by if one in shown)
        if by_shares and again and view.peer.moments[place].event == peer.event:
            return True
    return False


def _newly_preempted(view: View, moment: Moment) -> set[str]:
    """Since the moment before, as the peer showed that."""
    before: dict[str, Any] = view.before("workloads") or {}
    shown = moment.shows["workloads"]
    return {name for name in before if preemptions(shown.get(name, {})) > preemptions(before[name])}


def equal_victims(view: View, found: Difference) -> bool:
    """For each whom only the peer preempts at this moment, ours preempts one of its queue and priority that had got its
    quota after the same event."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None:
        return False
    theirs, mine = _newly_preempted(view, peer), _newly_preempted(view, ours)
    left, instead = ([_rank(view, name) for name in sorted(names)] for names in (theirs - mine, mine - theirs))
    return bool(left) and sorted(left) == sorted(instead)


def _rank(view: View, workload: str) -> tuple[str, int, int]:
    """What victims of one queue are told apart by: its queue, its priority, the moment since which it holds quota."""
    place = view.place - 1
    while place > 0 and is_true(view.peer.moments[place - 1].shows["workloads"].get(workload, {}), "QuotaReserved"):
        place -= 1
    priority: int = view.peer.moments[view.place - 1].shows["workloads"][workload]["priority"]
    return view.queue_of(workload), priority, place
