"""Laws of queueing over random clusters and histories, judged by the slow reference of the quota tree."""

from dataclasses import replace
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from admission.model.amounts import amount
from admission.model.kinds import Ref
from admission.world.clock import EPOCH
from tests.core.clusters import Cluster, Plan, QueuePlan, cluster_queue, holds, is_true, plans
from tests.core.reference_tree import CPU, Reference

# Mostly submissions: without contention there is nothing to judge.
KINDS = ("submit",) * 7 + ("finish",) * 2 + ("delete", "stop")
occurrences = st.tuples(st.sampled_from(KINDS), st.integers(0, 30), st.integers(1, 5), st.integers(0, 2))
histories = st.lists(occurrences, min_size=12, max_size=24)

STOP_POLICIES = ("None", "None", "None", "None", "Hold", "HoldAndDrain")


def play(cluster: Cluster, history: list[tuple[str, int, int, int]]) -> None:
    """One event every three seconds: enough for evictions to run their course."""
    for what, which, how_much, priority in history:
        cluster.pass_time(3)
        known = [Ref("Workload", "lab", found["metadata"]["name"]) for found in cluster.workloads()]
        if what == "submit":
            cluster.submit(which % len(cluster.plan.queues), how_much, priority)
        elif what == "stop":
            name = f"q{which % len(cluster.plan.queues)}"
            policy = {"spec": {"stopPolicy": STOP_POLICIES[how_much]}}
            assert cluster.world.api.patch(Ref("ClusterQueue", "", name), policy).code == 200
        elif known and what == "finish":
            running = [ref for ref in known if is_true(cluster.get(ref), "Admitted")]
            if running:
                cluster.world.finish(running[which % len(running)])
        elif known:
            cluster.world.api.delete(known[which % len(known)])
    cluster.pass_time(3)


def check_limits(tree: Reference) -> None:
    """No node of the tree uses more than its quota and limits give."""
    for spot in tree.spots():
        if tree.parent(spot) is None:
            assert tree.usage(spot, CPU) <= tree.subtree(spot, CPU), f"{spot} is over its quota"
        limit = tree.quota(spot, CPU).borrowing_limit
        if limit is not None:
            drawn = tree.usage(spot, CPU) - tree.subtree(spot, CPU)
            assert drawn <= limit, f"{spot} borrows {drawn}, its limit is {limit}"


@given(plans, histories)
def test_no_node_is_ever_above_its_limits(plan: Plan, history: list[tuple[str, int, int, int]]) -> None:
    cluster = Cluster(plan)
    cluster.world.subscribe("Workload", lambda _: check_limits(cluster.reference()))
    play(cluster, history)


def waits(cluster: Cluster, found: dict[str, Any]) -> bool:
    """Also what was evicted and has given its quota back: Evicted stays True until it is admitted again."""
    return not holds(found) and not is_true(found, "Finished")


def needs(found: dict[str, Any]) -> int:
    container = found["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    return amount("cpu", container["resources"]["requests"]["cpu"])


def order(found: dict[str, Any]) -> tuple[int, str, str]:
    return -found["spec"]["priority"], found["metadata"]["creationTimestamp"], found["metadata"]["uid"]


def documented_reason_to_wait(cluster: Cluster, found: dict[str, Any], tree: Reference) -> str:
    """Why Kueue's rules hold back a workload that would fit; "" when none does. These are all the exceptions:

    stopped: its queue is stopped. behind a strict head: StrictFIFO, and somebody is before it. kept for a preemptor: a
    workload of its tree waits for victims to leave, and its room is kept. kept for a blocked head: a queue of its tree
    has a head that neither fits nor may preempt, and could not take lent quota back from anybody.
    """
    queue = found["spec"]["queueName"]
    policy = cluster.get(Ref("ClusterQueue", "", queue))["spec"].get("stopPolicy", "None")
    if policy != "None":
        return "stopped"
    root = tree.path(("queue", queue))[-1]
    rivals = [
        other
        for other in cluster.workloads()
        if other is not found
        and waits(cluster, other)
        and other["metadata"]["name"] != found["metadata"]["name"]
        and tree.path(("queue", other["spec"]["queueName"]))[-1] == root
    ]
    plan = cluster.plan.queues[int(queue[1:])]
    if plan.strict and any(other["spec"]["queueName"] == queue and order(other) < order(found) for other in rivals):
        return "behind a strict head"
    for other in rivals:
        theirs = cluster.plan.queues[int(other["spec"]["queueName"][1:])]
        hold = cluster.world.state.scheduler.last(f"lab/{other['metadata']['name']}")  # type: ignore[attr-defined]
        if hold is not None and hold.reason == "WaitingForPreemptedWorkloads":
            return "kept for a preemptor"
        if theirs.strict and theirs.reclaim != "Any":
            return "kept for a blocked head"
    return ""


@given(plans, histories)
def test_at_rest_nobody_waits_who_fits_and_whom_no_documented_rule_holds(
    plan: Plan, history: list[tuple[str, int, int, int]]
) -> None:
    cluster = Cluster(plan)
    play(cluster, history)
    cluster.pass_time(60)
    tree = cluster.reference()
    for found in cluster.workloads():
        if not waits(cluster, found):
            continue
        spot = ("queue", found["spec"]["queueName"])
        if tree.available(spot, CPU) < needs(found):
            event("does not fit")
            continue
        reason = documented_reason_to_wait(cluster, found, tree)
        event(reason or "fits")
        assert reason, f"{found['metadata']['name']} fits in {spot} and waits"


@given(plans, histories)
def test_once_nothing_happens_from_outside_everything_comes_to_rest(
    plan: Plan, history: list[tuple[str, int, int, int]]
) -> None:
    """Our own echoes and stopped pods are no outside change: they may go on for a while, not for ever."""
    cluster = Cluster(plan)
    play(cluster, history)
    cluster.pass_time(300)
    evictions, writes = len(cluster.world.evictions), len(cluster.world.writes)
    cluster.pass_time(3600)
    assert len(cluster.world.evictions) == evictions
    assert len(cluster.world.writes) == writes


@given(plans, st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), max_size=8), st.randoms(use_true_random=False))
def test_the_order_in_which_independent_things_are_created_does_not_matter(
    plan: Plan, jobs: list[tuple[int, int]], chance: Any
) -> None:
    """Priorities are all different, so nothing but them decides."""

    def admitted(order: list[int]) -> set[tuple[str, int]]:
        cluster = Cluster(plan)
        cluster.world.pause(True)
        for place in order:
            queue, cpu = jobs[place]
            cluster.create_named(f"job-{place}", queue % len(plan.queues), cpu, priority=place)
        cluster.world.settle()
        cluster.world.pause(False)
        cluster.pass_time(60)
        return {(one["metadata"]["name"], needs(one)) for one in cluster.workloads() if holds(one)}

    shuffled = list(range(len(jobs)))
    chance.shuffle(shuffled)
    assert admitted(list(range(len(jobs)))) == admitted(shuffled)


def test_a_quota_cut_admits_nobody_and_evicts_nobody() -> None:
    """Kueue leaves who holds quota alone when the quota shrinks; the surplus only keeps newcomers out."""
    plan = Plan((plain(nominal=4),), 0)
    cluster = Cluster(plan)
    first = cluster.submit(0, 4, 0)
    cluster.pass_time(1)
    spec = cluster_queue("q0", replace(plan.queues[0], nominal=2))["spec"]
    cluster.world.api.patch(Ref("ClusterQueue", "", "q0"), {"spec": spec})
    second = cluster.submit(0, 1, 9)
    cluster.pass_time(60)
    assert holds(cluster.get(first))
    assert not holds(cluster.get(second))
    assert cluster.world.now == EPOCH + 61


def plain(nominal: int) -> QueuePlan:
    return QueuePlan("", nominal, None, None, False, "Never", "Never", "Never")
