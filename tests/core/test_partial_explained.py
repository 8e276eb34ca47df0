"""What people are told of workloads that accept fewer pods, and of those that wait for the pods of others."""

from admission.explain import explain
from admission.model.configuration import Configuration, WaitForPodsReady
from admission.model.names import workload_key
from admission.state import State
from tests.core.clusters import Cluster, Plan, QueuePlan
from tests.core.test_explain import one_waits
from tests.core.test_simulate import Manifest, flavor, job, queue


def elastic(pods: int, least: int) -> Manifest:
    made = job("waits", "q", pods=pods)
    made["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": str(least)}
    return made


def test_who_started_with_fewer_pods_is_told_with_how_many() -> None:
    why = one_waits([flavor(), *queue("q", 6)], elastic(10, 3))
    assert why.sentence == "It is admitted in queue q with 6 of its 10 pods and may run."


def test_who_waits_is_told_what_the_fewest_pods_lack() -> None:
    """All ten would never fit; three will once the other is gone."""
    why = one_waits([flavor(), *queue("q", 6)], elastic(10, 3), job("before", "q", "5"))
    assert why.sentence == (
        "Waits for quota: it asks for 3 cpu of flavor std: 1 free, 2 missing; held by lab/before (5 in queue q). "
        "That is for 3 of its 10 pods, the fewest it accepts. It is number 1 in queue q."
    )
    assert (why.reason, why.never) == ("WaitingForQuota", False)


def test_where_even_the_fewest_never_fit_it_never_starts() -> None:
    why = one_waits([flavor(), *queue("q", 6)], elastic(10, 7))
    assert (why.reason, why.never) == ("ExceedsMaxQuota", True)
    assert "it asks for 7 cpu, and its queue can never have more than 6 of flavor std" in why.sentence


def test_who_waits_for_the_pods_of_others_is_told_of_whom() -> None:
    plan = Plan((QueuePlan("", 6, None, None, False, "Never", "Never", "Never"),), 0)
    made = Cluster(plan, configuration=Configuration(wait_for_pods_ready=WaitForPodsReady(block_admission=True)))
    first, second = made.submit(0, 1, priority=1), made.submit(0, 1, priority=0)
    made.pass_time(5)
    state = made.world.state
    assert isinstance(state, State)
    why = explain(state, workload_key(second.namespace, second.name), made.world.now)
    assert why.reason == "WaitingForPodsReady"
    assert f"starts when the pods of lab/{first.name} are ready" in why.sentence
