"""What people merely read is written at a bounded rate: a storm of waits or of changes costs no write each."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from admission.model.effects import Outcome, Patch
from admission.model.kinds import Ref
from admission.model.names import IN_USE
from admission.model.queues import ClusterQueue, LocalQueue, Namespace, ResourceFlavor
from admission.model.selectors import EVERYTHING
from admission.model.workload import PodSet, Workload
from admission.state import State
from admission.state.allowance import Allowance
from admission.state.decide import REPORT_AFTER, REPORTS_A_SECOND, REPORTS_AT_ONCE
from admission.state.queues import STATUSES_A_SECOND, STATUSES_AT_ONCE
from tests.core.lab import group

START = 1000.0


def cluster(queues: int, cpu: str, state: State | None = None) -> State:
    """A State that knows so many ClusterQueues, each with a LocalQueue of its name."""
    state = state or State()
    state.observe("Namespace", Namespace("lab"))
    state.observe("ResourceFlavor", ResourceFlavor("std", resource_version=1))
    for number in range(queues):
        name = f"q{number}"
        groups = (group({"std": {"cpu": cpu}}),)
        queue = ClusterQueue(
            name, resource_version=1, groups=groups, namespace_selector=EVERYTHING, finalizers=(IN_USE,)
        )
        state.observe("ClusterQueue", queue)
        state.observe("LocalQueue", LocalQueue("lab", name, name, resource_version=1))
    return state


def submit(state: State, queue: int, number: int, cpu: int = 2) -> None:
    name = f"w{queue}-{number}"
    pod_sets = (PodSet("main", 1, {"cpu": cpu * 1000}),)
    state.observe("Workload", Workload("lab", name, name, 1, START, f"q{queue}", pod_sets))


def writes(state: State, now: float) -> Iterator[tuple[str, Patch]]:
    """(kind, status patch) of the plans at a moment, each answered with ok."""
    while True:
        plan = state.plan(now)
        for planned in plan.effects:
            if isinstance(planned.effect, Patch):
                if planned.effect.subresource == "status":
                    yield planned.effect.ref.kind, planned.effect
                state.outcome(Outcome(planned.id, "ok", int(now * 1000)))
        if not plan.more:
            return


def count(state: State, kind: str, now: float) -> int:
    return sum(found == kind for found, _ in writes(state, now))


def test_a_small_clusters_waits_are_all_reported_at_once() -> None:
    state = cluster(1, cpu="1")
    for number in range(50):
        submit(state, 0, number)
    assert count(state, "Workload", START) == 0
    assert count(state, "Workload", START + REPORT_AFTER) == 50


def test_a_storm_of_waits_is_reported_a_few_each_second_and_in_the_end_all() -> None:
    state = cluster(1, cpu="1")
    for number in range(REPORTS_AT_ONCE + 35):
        submit(state, 0, number)
    assert count(state, "Workload", START) == 0
    moment = START + REPORT_AFTER
    assert count(state, "Workload", moment) == REPORTS_AT_ONCE
    told: list[float] = []
    while (wake := state.plan(moment).wake_at) is not None and len(told) < 35:
        moment = max(moment, wake)
        told += [moment] * count(state, "Workload", moment)
    assert len(told) == 35
    assert 35 / REPORTS_A_SECOND - 0.5 < told[-1] - (START + REPORT_AFTER) < 35 / REPORTS_A_SECOND + 0.5


def test_a_wait_that_is_over_before_its_turn_costs_no_write() -> None:
    state = cluster(2, cpu="1")
    for number in range(REPORTS_AT_ONCE + 20):
        submit(state, 0, number)
    for number in range(20):
        submit(state, 1, number)
    assert count(state, "Workload", START) == 0
    assert count(state, "Workload", START + REPORT_AFTER) == REPORTS_AT_ONCE
    for number in range(REPORTS_AT_ONCE, REPORTS_AT_ONCE + 20):
        state.gone(Ref("Workload", "lab", f"w0-{number}"))
    assert count(state, "Workload", START + REPORT_AFTER + 2.0) == 20  # those of the other queue, all of them


def test_many_queues_that_change_at_once_take_turns() -> None:
    queues = STATUSES_AT_ONCE  # and as many LocalQueues, so half of them have to wait
    state = cluster(queues, cpu="100")
    written = [kind for kind, _ in writes(state, START) if kind != "Workload"]
    assert len(written) == STATUSES_AT_ONCE
    seconds = 0.0
    while len(written) < 2 * queues and seconds < 60:
        seconds += 0.25
        written += [kind for kind, _ in writes(state, START + seconds) if kind != "Workload"]
        assert len(written) <= STATUSES_AT_ONCE + seconds * STATUSES_A_SECOND
    assert written.count("ClusterQueue") == written.count("LocalQueue") == queues
    assert seconds <= queues / STATUSES_A_SECOND + 1


@given(st.lists(st.floats(0, 3), max_size=60), st.floats(0.1, 50), st.integers(1, 20))
def test_an_allowance_is_never_exceeded_and_its_next_moment_always_comes(
    pauses: list[float], rate: float, at_once: int
) -> None:
    allowance = Allowance(rate, at_once)
    now, spent = START, 0
    for pause in pauses:
        now += pause
        while allowance.allows(now):
            allowance.spend()
            spent += 1
        assert spent <= at_once + (now - START) * rate + 1e-6
        assert allowance.next > now
    now = allowance.next
    for _ in range(3):  # rounding may leave a little missing, but not for ever
        if allowance.allows(now):
            return
        now = allowance.next
    raise AssertionError(f"still nothing at {now}")
