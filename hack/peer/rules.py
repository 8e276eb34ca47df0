"""The differences from Kueue that are documented, each with what must be so that it may be seen.

A rule looks at one difference and at what both sides showed until then. It is never a blanket: what it cannot prove
stays a finding. Names are those of the entries in docs/differences-from-kueue.md.
"""

from collections.abc import Callable
from typing import NamedTuple

from hack.peer import decided, preempted, published
from hack.peer.view import Difference, View


class Rule(NamedTuple):
    """`decides`: it is about a decision, from which everything after may differ."""

    name: str
    decides: bool
    explains: Callable[[View, Difference], bool]


def explain(view: View, difference: Difference) -> Rule | None:
    """The documented difference that this is one of."""
    return next((rule for rule in RULES if rule.explains(view, difference)), None)


# Those of decisions first: where one of them applies, what is published differs in its wake.
RULES = (
    Rule("a class and the priority of its workloads", True, decided.class_is_followed),
    Rule("who comes back after a check's Retry", True, decided.after_retry),
    Rule("who was deactivated by Kueue and is activated again", True, decided.activated_again),
    Rule("evicted workloads when a stopped queue goes on", True, decided.evicted_wait_for_restart),
    Rule("who had to leave", True, preempted.taken_back),
    Rule("who had to leave", True, preempted.after_whom_it_left_for),
    Rule("fair sharing: a victim that came back", True, preempted.came_back),
    Rule("victims of equal priority", True, preempted.equal_victims),
    Rule("room that is not free yet", True, decided.before_the_victims_left),
    Rule("preemption before borrowing, of two resources", True, decided.borrowing_hides_a_victim),
    Rule("releases from a stopped LocalQueue", True, decided.release_from_stopped),
    Rule("draining a ClusterQueue whose LocalQueue is stopped", True, decided.drained_behind_a_stop),
    Rule("scans that go round in circles", True, decided.scans_in_circles),
    Rule("priority of finished workloads", False, published.finished_keeps_priority),
    Rule("pending count when a LocalQueue stops", False, published.stale_count),
    Rule("shares after an edit of another quota", False, published.stale_share),
    Rule("pending count of a LocalQueue while one is looked at", False, published.in_flight),
    Rule("why a workload waits in a stopped queue", False, published.says_inactive),
    Rule("newcomers that ask for what has just failed", False, published.kin_is_told),
)
