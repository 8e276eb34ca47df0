"""Partial admission: a workload that would run with fewer pods than it asks for starts with as many as fit."""

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from admission.model.configuration import Configuration
from admission.model.decisions import Admit
from admission.model.gates import Gates
from admission.model.queues import Preemption
from admission.model.workload import PodSet
from admission.rules.asks import Ask
from admission.rules.partial import largest, shrunk, steps
from admission.rules.scheduler import Run, Scheduler
from tests.core.lab import LOWER, NEXT, Lab, admitted, preempted

OFF = Configuration(gates=Gates({"PartialAdmission": False}))


def workers(count: int, least: int | None = None, cpu: int = 1000, name: str = "workers", **more: Any) -> PodSet:
    return PodSet(name, count, {"cpu": cpu}, min_count=least, **more)


def counts(run: Run) -> dict[str, dict[str, int]]:
    """Pods per pod set of all who were admitted."""
    return {
        each.workload.partition("/")[2]: {one.name: one.count for one in each.admission.assignments}
        for each in run.decisions
        if isinstance(each, Admit)
    }


def test_it_starts_with_as_many_pods_as_fit_and_is_charged_for_no_more() -> None:
    lab = Lab()
    lab.queue("q", cpu="6")
    lab.submit_pods("elastic", "q", workers(10, 3))
    assert counts(lab.run()) == {"elastic": {"workers": 6}}
    assert lab.scheduler.usage("q") == {("std", "cpu"): 6000}


def test_with_all_its_pods_when_they_fit() -> None:
    lab = Lab()
    lab.queue("q", cpu="10")
    lab.submit_pods("elastic", "q", workers(10, 3))
    assert counts(lab.run()) == {"elastic": {"workers": 10}}


def test_below_its_minimum_it_waits_and_is_told_of_all_its_pods() -> None:
    lab = Lab()
    lab.queue("q", cpu="2")
    lab.submit_pods("elastic", "q", workers(10, 3))
    assert admitted(lab.run()) == []
    reason, message = lab.why("elastic")
    assert reason == "ExceedsMaxQuota"
    assert "current podset request (10) > maximum capacity (2)" in message


def test_without_its_gate_it_is_all_or_nothing() -> None:
    lab = Lab(Scheduler(OFF))
    lab.queue("q", cpu="6")
    lab.submit_pods("elastic", "q", workers(10, 3))
    assert admitted(lab.run()) == []


def test_pods_of_several_pod_sets_shrink_together() -> None:
    """4 + 8 pods can do without 2 + 4. Half of the way down, 3 + 6 pods fit; one pod more of either would, too."""
    lab = Lab()
    lab.queue("q", cpu="10")
    lab.submit_pods("elastic", "q", workers(4, 2, name="a"), workers(8, 4, name="b"))
    assert counts(lab.run()) == {"elastic": {"a": 3, "b": 6}}


def test_pods_that_are_not_needed_any_more_are_not_asked_for() -> None:
    lab = Lab()
    lab.queue("q", cpu="6")
    lab.submit_pods("elastic", "q", workers(10, 3))
    lab.edit("elastic", reclaimable={"workers": 5})
    assert counts(lab.run()) == {"elastic": {"workers": 5}}


def test_more_pods_by_preemption_go_before_fewer_that_fit_now() -> None:
    lab = Lab()
    lab.queue("q", cpu="6", preemption=LOWER)
    lab.runs("low", "q", priority=-1, cpu="3")
    lab.submit_pods("elastic", "q", workers(10, 2))
    run = lab.run()
    assert (admitted(run), preempted(run)) == ([], [("low", "InClusterQueue")])
    lab.stop("low")
    assert counts(lab.run()) == {"elastic": {"workers": 6}}


def test_whom_it_may_not_preempt_it_takes_less_beside() -> None:
    lab = Lab()
    lab.queue("q", cpu="6", preemption=LOWER)
    lab.runs("high", "q", priority=1, cpu="3")
    lab.submit_pods("elastic", "q", workers(10, 2))
    assert counts(lab.run()) == {"elastic": {"workers": 3}}


def test_a_flavor_that_holds_fewer_pods_is_found_on_the_way_down() -> None:
    lab = Lab()
    lab.queue("q", {"big": {"cpu": "8"}, "small": {"cpu": "5"}}, fungibility=NEXT)
    lab.runs("other", "q", flavor="big", cpu="6")
    lab.submit_pods("elastic", "q", workers(10, 3))
    assert counts(lab.run()) == {"elastic": {"workers": 5}}
    assert lab.flavor_of("elastic") == {"cpu": "small"}


def test_equals_that_differ_in_their_minimum_only_do_not_fail_alike() -> None:
    lab = Lab()
    lab.queue("q", cpu="4")
    lab.submit_pods("all", "q", workers(5))
    lab.submit_pods("some", "q", workers(5, 1))
    assert counts(lab.run()) == {"some": {"workers": 4}}


def test_a_look_says_with_how_many_it_would_start_and_changes_nothing() -> None:
    lab = Lab()
    lab.queue("q", cpu="6")
    lab.submit_pods("elastic", "q", workers(10, 3))
    version = lab.scheduler.usage("q")
    seen = lab.scheduler.inspect(lab.key("elastic"), 0.0)
    assert isinstance(seen, Admit)
    assert [one.count for one in seen.admission.assignments] == [6]
    assert lab.scheduler.usage("q") == version == {}


# --- laws

pod_sets = st.tuples(st.integers(1, 12), st.integers(0, 12), st.integers(1, 3)).map(
    lambda drawn: (drawn[0], min(drawn[0], max(1, drawn[1])), drawn[2])
)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Ask, ...]:
    drawn = draw(st.lists(pod_sets, min_size=1, max_size=3))
    return tuple(
        Ask(f"p{place}", count, (("cpu", cpu * count),), (), (), (), least)
        for place, (count, least, cpu) in enumerate(drawn)
    )


def cpu(asks: tuple[Ask, ...]) -> int:
    return sum(units for ask in asks for _, units in ask.requests)


@given(asked(), st.integers(0, 40))
def test_halving_finds_what_trying_all_counts_downward_finds(asks: tuple[Ask, ...], room: int) -> None:
    of = steps(asks)
    by_trying = next((down for step in range(of + 1) if cpu(down := shrunk(asks, step, of or 1)) <= room), None)
    event("nothing to shrink" if not of else "found" if by_trying else "too much even so")
    assert largest(asks, lambda fewer: fewer if cpu(fewer) <= room else None) == (by_trying if of else None)


@given(asked(), st.integers(0, 40))
def test_counts_stay_between_the_least_and_all_and_requests_follow(asks: tuple[Ask, ...], step: int) -> None:
    of = steps(asks)
    if of:
        for before, after in zip(asks, shrunk(asks, min(step, of), of), strict=True):
            assert before.least <= after.pods <= before.pods
            assert after.requests == ((("cpu", before.requests[0][1] // before.pods * after.pods)),)
        assert shrunk(asks, of, of) == tuple(_just(ask, ask.least) for ask in asks)


def _just(ask: Ask, pods: int) -> Ask:
    return ask._replace(pods=pods, requests=(("cpu", ask.requests[0][1] // ask.pods * pods),))


@given(pod_sets, pod_sets, st.integers(0, 2))
def test_it_gets_what_somebody_would_get_who_tried_one_pod_less_after_another(
    pods: tuple[int, int, int], others: tuple[int, int, int], priority: int
) -> None:
    count, least, cpu = pods

    def outcome(*tried: PodSet) -> tuple[dict[str, dict[str, int]], list[tuple[str, str]]]:
        lab = _two_queues(Configuration(), "LowerPriority")
        lab.runs("there", "q", priority=1, cpu=str(others[0]))
        lab.runs("elsewhere", "r", priority=1, cpu=str(others[1]))
        lab.submit_pods("new", "q", *tried, priority=priority)
        run = lab.run()
        return counts(run), preempted(run)

    found = outcome(workers(count, least, cpu * 1000))
    by_trying = (outcome(workers(fewer, None, cpu * 1000)) for fewer in range(count, least - 1, -1))
    assert found == next((one for one in by_trying if any(one)), ({}, []))


submissions = st.tuples(pod_sets, st.integers(0, 2), st.booleans())  # pods, priority, in the first queue or the second


@given(st.lists(submissions, max_size=6), st.sampled_from(["Never", "LowerPriority"]))
def test_who_accepts_no_fewer_pods_is_decided_as_without_partial_admission(
    jobs: list[tuple[tuple[int, int, int], int, bool]], within: str
) -> None:
    """A minCount equal to the count is no offer, and is answered like none; so it is with the gate off."""

    def decisions(configuration: Configuration, offer: bool) -> object:
        lab = _two_queues(configuration, within)
        for place, ((count, _, cpu), priority, first) in enumerate(jobs):
            pods = workers(count, count if offer else None, cpu * 1000)
            lab.submit_pods(f"w{place}", "q" if first else "r", pods, priority=priority)
        return lab.run().decisions

    plain = decisions(OFF, offer=False)
    assert decisions(OFF, offer=True) == decisions(Configuration(), offer=True) == plain
    assert decisions(Configuration(), offer=False) == plain


@given(st.lists(submissions, max_size=8), st.sampled_from(["Never", "LowerPriority"]))
def test_nobody_is_above_its_limits_or_below_its_minimum(
    jobs: list[tuple[tuple[int, int, int], int, bool]], within: str
) -> None:
    lab = _two_queues(Configuration(), within)
    asked: dict[str, tuple[int, int]] = {}
    for place, ((count, least, cpu), priority, first) in enumerate(jobs):
        asked[f"w{place}"] = (least, count)
        lab.submit_pods(f"w{place}", "q" if first else "r", workers(count, least, cpu * 1000), priority=priority)
        run = lab.run()
        for victim, _ in preempted(run):
            lab.stop(victim)
        for name, got in (counts(run) | counts(lab.run())).items():
            least, count = asked[name]
            event("with fewer" if got["workers"] < count else "with all")
            assert least <= got["workers"] <= count
        used = {queue: lab.scheduler.usage(queue).get(("std", "cpu"), 0) for queue in ("q", "r")}
        assert sum(used.values()) <= 20_000
        assert used["q"] <= 15_000


def _two_queues(configuration: Configuration, within: str) -> Lab:
    lab = Lab(Scheduler(configuration))
    policy = Preemption(within_cluster_queue=within)
    lab.queue("q", cpu="10+5", cohort="co", preemption=policy)
    lab.queue("r", cpu="10", cohort="co", preemption=policy)
    return lab
