"""What searches for victims remember of each other spares work and changes no answer."""

from typing import Any
from unittest.mock import patch

from hypothesis import event, given
from hypothesis import strategies as st

from admission.model.queues import Preemption
from admission.model.workload import PodSet
from admission.rules.preemption_candidates import find_candidates
from admission.rules.prospects import Prospect, Prospects
from tests.core.lab import NEXT, Lab, preempted

WITHIN = st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])
RECLAIM = st.sampled_from(["Never", "LowerPriority", "Any"])
policies = st.tuples(WITHIN, RECLAIM, st.booleans()).map(
    lambda drawn: Preemption(drawn[0], drawn[1], "LowerPriority" if drawn[2] and drawn[1] != "Never" else "Never")
)
# What happens (mostly somebody comes), in which queue or to whom, and what is asked for: cpu, memory, priority.
events = st.tuples(
    st.sampled_from(("submit",) * 6 + ("finish", "stop")), st.integers(0, 20), st.integers(1, 4), st.integers(0, 3),
    st.integers(0, 2),
)  # fmt: skip


def forgetful() -> Any:
    """Every search begins anew."""
    return patch.multiple(
        Prospects,
        of=lambda self, search, queues, holders: Prospect(find_candidates(search, queues, holders)),
        fruitful=lambda self, needs, priority: False,
        fruitless=lambda self, needs, rank: False,
    )


def play(drawn: list[Preemption], history: list[tuple[str, int, int, int, int]]) -> list[object]:
    lab = Lab()
    lab.cohort("left", "root", {"a": {"cpu": "1", "memory": "1"}})
    lab.cohort("right", "root")
    for number, policy in enumerate(drawn):
        flavors = {flavor: {"cpu": "3", "memory": "3-1"} for flavor in ("a", "b")}
        lab.queue(f"q{number}", flavors, cohort=("left", "right", "left")[number], preemption=policy, fungibility=NEXT)
    said: list[object] = []
    for place, (what, which, cpu, memory, priority) in enumerate(history):
        holding = lab.holding()
        if what == "submit":
            requests = {"cpu": cpu * 1000, "memory": memory}
            lab.submit_pods(f"w{place}", f"q{which % len(drawn)}", PodSet("main", 1, requests), priority=priority)
        elif holding and what == "finish":
            lab.finish(holding[which % len(holding)])
        elif leaving := [name for name in holding if _evicted(lab, name)]:
            lab.stop(leaving[which % len(leaving)])
        run = lab.run()
        said.append(run)
        if preempted(run):
            event("somebody is preempted")
    return said


def _evicted(lab: Lab, name: str) -> bool:
    holder = lab.scheduler.holders.get(lab.key(name))
    return holder is not None and holder.evicted


@given(st.lists(policies, min_size=3, max_size=3), st.lists(events, min_size=14, max_size=30))
def test_every_decision_and_every_sentence_is_as_if_each_search_began_anew(
    drawn: list[Preemption], history: list[tuple[str, int, int, int, int]]
) -> None:
    remembered = play(drawn, history)
    with forgetful():
        assert play(drawn, history) == remembered


def test_what_is_remembered_stays_small_however_many_priorities_there_are() -> None:
    lab, few = Lab(), 30
    lab.queue("q", cpu="10", preemption=Preemption("LowerPriority"))
    for number in range(9):
        lab.runs(f"holder{number}", "q", priority=-1, cpu="1")
    lab.runs("rock", "q", priority=1000, cpu="1")  # nobody can have all ten cores
    for number in range(8):
        lab.submit(f"w{number}", "q", priority=number, cpu="10")
    with patch("admission.rules.prospects.MOST_CANDIDATES", few):
        lab.run()
    assert lab.parked() == [f"w{number}" for number in range(8)]
    assert 9 <= lab.scheduler.queues["q"].prospects.remembered <= few
