"""waitForPodsReady.blockAdmission: nobody is admitted while somebody that holds quota has pods that are not ready."""

from dataclasses import replace

from hypothesis import event, given
from hypothesis import strategies as st

from admission.model.configuration import Configuration, WaitForPodsReady
from admission.model.decisions import Admit, Hold
from admission.model.workload import Admission, Condition, PodSetAssignment
from admission.rules.scheduler import Scheduler
from tests.core.lab import LOWER, Lab, admitted, preempted

READY = {"PodsReady": Condition("PodsReady", "True", "Started", "", 0.0)}


def one_at_a_time() -> Lab:
    return Lab(Scheduler(Configuration(wait_for_pods_ready=WaitForPodsReady(block_admission=True))))


def pods_ready(lab: Lab, name: str, ready: bool = True) -> None:
    """The condition of a holder, as the controller of its job writes it."""
    holder = lab.scheduler.holders.get(lab.key(name))
    assert holder is not None, f"{name} holds nothing"
    units = {resource: amount for (_, resource), amount in holder.usage.items()}
    admission = Admission(holder.queue, (PodSetAssignment("main", lab.flavor_of(name), units, 1),))
    workload = replace(lab.workloads[name], admission=admission, conditions=READY if ready else {})
    lab.scheduler.charge(workload, holder.usage)


def test_one_is_admitted_and_the_next_waits_until_its_pods_are_ready() -> None:
    lab = one_at_a_time()
    lab.queue("q", cpu="9")
    lab.submit("first", "q", cpu="1")
    lab.submit("second", "q", cpu="1")
    assert admitted(lab.run()) == ["first"]
    assert lab.why("second") == (
        "WaitingForPodsReady", "waiting for all admitted workloads to be in PodsReady condition",
    )  # fmt: skip
    assert not lab.scheduler.restless
    pods_ready(lab, "first")
    assert admitted(lab.run()) == ["second"]


def test_by_default_nobody_waits_for_pods() -> None:
    lab = Lab()
    lab.queue("q", cpu="9")
    lab.submit("first", "q", cpu="1")
    lab.submit("second", "q", cpu="1")
    assert admitted(lab.run()) == ["first", "second"]


def test_queues_that_share_nothing_wait_for_each_other_and_the_most_important_is_next() -> None:
    lab = one_at_a_time()
    for queue in ("p", "q", "r"):
        lab.queue(queue, cpu="1")
    lab.submit("plain", "p", cpu="1")
    lab.submit("urgent", "q", priority=2, cpu="1")
    lab.submit("middling", "r", priority=1, cpu="1")
    order = []
    for _ in range(3):
        (name,) = admitted(lab.run())
        order.append(name)
        pods_ready(lab, name)
    assert order == ["urgent", "middling", "plain"]


def test_who_ends_before_its_pods_were_ready_blocks_nobody_any_more() -> None:
    lab = one_at_a_time()
    lab.queue("q", cpu="9")
    lab.submit("first", "q", cpu="1")
    lab.submit("second", "q", cpu="1")
    lab.run()
    lab.finish("first")
    assert admitted(lab.run()) == ["second"]


def test_pods_that_are_lost_later_block_again() -> None:
    lab = one_at_a_time()
    lab.queue("q", cpu="9")
    lab.submit("first", "q", cpu="1")
    lab.run()
    pods_ready(lab, "first")
    pods_ready(lab, "first", ready=False)
    lab.submit("second", "q", cpu="1")
    assert admitted(lab.run()) == []
    pods_ready(lab, "first")
    assert admitted(lab.run()) == ["second"]


def test_who_must_wait_for_quota_is_told_so() -> None:
    lab = one_at_a_time()
    lab.queue("q", cpu="1")
    lab.submit("first", "q", cpu="1")
    lab.submit("second", "q", cpu="1")
    lab.run()
    assert lab.why("second")[0] == "WaitingForQuota"


def test_what_a_blocked_head_is_about_to_take_is_kept_for_it() -> None:
    """Kueue holds its place in the cycle while it waits for the pods."""
    lab = one_at_a_time()
    lab.queue("q", cpu="0", cohort="co")
    lab.queue("r", cpu="0", cohort="co")
    lab.queue("lender", cpu="4", cohort="co")
    lab.runs("running", "r", cpu="1")
    lab.submit("next", "q", priority=5, cpu="3")
    lab.submit("after", "r", cpu="1")
    assert admitted(lab.run()) == []
    assert lab.why("next")[0] == "WaitingForPodsReady"
    assert lab.why("after") == ("WaitingForQuota", "Workload no longer fits after processing another workload")
    pods_ready(lab, "running")
    assert admitted(lab.run()) == ["next"]


def test_a_look_at_one_says_what_it_waits_for() -> None:
    lab = one_at_a_time()
    lab.queue("q", cpu="9")
    lab.submit("first", "q", cpu="1")
    lab.run()
    lab.submit("second", "q", cpu="1")
    seen = lab.scheduler.inspect(lab.key("second"), 0.0)
    assert isinstance(seen, Hold)
    assert seen.reason == "WaitingForPodsReady"


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.integers(0, 2)), max_size=10),
    st.lists(st.integers(0, 9), max_size=30),
)
def test_at_most_one_is_unready_and_everybody_who_fits_is_admitted_in_the_end(
    jobs: list[tuple[int, int, int]], finishes: list[int]
) -> None:
    lab = one_at_a_time()
    lab.queue("q0", cpu="3", cohort="co", preemption=LOWER)
    lab.queue("q1", cpu="3", cohort="co")
    lab.queue("q2", cpu="3")
    for place, (queue, cpu, priority) in enumerate(jobs):
        lab.submit(f"w{place}", f"q{queue}", priority=priority, cpu=str(cpu))
    unready: list[str] = []
    for step in range(40):
        run = lab.run()
        news = admitted(run)
        assert len(news) <= 1
        assert not (news and unready), "somebody was admitted beside one whose pods are not ready"
        for victim, _ in preempted(run):
            lab.stop(victim)
            unready = [name for name in unready if name != victim]
        unready += news
        if unready and step < len(finishes) and finishes[step] < 3:
            lab.finish(unready.pop())
        elif unready:
            pods_ready(lab, unready.pop())
        elif not preempted(run):
            break
    waiting = [name for name in lab.workloads if lab.scheduler.waits(lab.key(name))]
    event(f"{len(waiting)} wait in the end")
    for name in waiting:
        assert lab.why(name)[0] != "WaitingForPodsReady"
        assert not isinstance(lab.scheduler.inspect(lab.key(name), 0.0), Admit) or not lab.scheduler.restless
