"""Elastic quotas where whole jobs meet them: room that would stay idle, laws, and what commands make of them."""

from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.explain import Explainer
from admission.model.kinds import KUEUE, Ref
from admission.model.names import WorkloadKey
from admission.state import State
from admission.world.scenario.case import read_case
from admission.world.scenario.report import FileResult, text
from admission.world.scenario.runner import run_case
from controller.cli.playing import prepared
from controller.cli.results import result
from tests.core.test_elastic_quotas import Cluster, cpus, node, pod, quota


def test_explain_says_what_bounds_the_queue() -> None:
    cluster = Cluster(node("n", cpu="20"), quota("a", *cpus(4, 20)), quota("b", *cpus(4, 20)))
    cluster.world.pause(True)
    cluster.submit("a", 11)
    cluster.submit("b", 5, 5)
    cluster.world.pause(False)
    cluster.rest()
    assert cluster.world.product is not None
    state = cluster.world.product.machine
    assert isinstance(state, State)
    told = Explainer(state, cluster.world.now).explain(WorkloadKey("lab/a-0"))
    assert (
        "The queue is the elastic quota lab/a: of cpu min 4, max 20, and runtime, which all that is asked for now "
        "leaves it, 10; used, pods that name it included, 0." in told.why
    )
    assert not told.never, "others may ask for less"


def test_a_scenario_says_what_the_cluster_has_and_what_leaves_are_asked_for() -> None:
    """Minimum, request and weight by name; a does not ask for its minimum, and b overflows by 5 in the first round."""
    rows = {"a": (20, 5, 60), "b": (30, 50, 40), "c": (10, 60, 30), "d": (0, 20, 20)}
    quotas = [
        quota(name, {"gpu": str(least)}, {"gpu": "1000"}, shared_weight=f'{{"gpu":"{weight}"}}')
        for name, (least, _, weight) in rows.items()
    ]
    case = {
        "id": "C904",
        "source": "https://example.com/quotas",
        "area": "elastic-quota",
        "confidence": "high",
        "needs": ["elasticquota"],
        "gist": "Runtime follows what is asked for",
        "why": "Minimums first, then by weight, never beyond what is asked for.",
        "objects": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}, *quotas],
        "events": [
            {"t": 0, "op": "cluster", "resources": {"gpu": "100"}},
            {"t": 1, "op": "set-request", "requests": {name: {"gpu": str(row[1])} for name, row in rows.items()}},
            {"t": 5, "op": "tick"},
            {"t": 6, "op": "set-request", "requests": {"b": {"gpu": "30"}}},
            {"t": 9, "op": "tick"},
        ],
        "expect": [
            {"at": at, "elasticQuota": f"lab/{name}", "used": {"gpu": "0"}, "runtime": {"gpu": str(units)}}
            for at, shares in ((5, (5, 50, 31, 14)), (9, (5, 30, 45, 20)))
            for name, units in zip(rows, shares, strict=True)
        ],
    }
    result = run_case(read_case(yaml.safe_dump(case)))
    assert result.outcome == "passed", "\n".join(text([FileResult("quotas.yaml", result)]))


def test_a_job_that_fits_no_share_gets_room_that_would_stay_idle() -> None:
    """Half of the cluster is each one's runtime, and both have jobs for all of it: the older comes first, each time."""
    cluster = Cluster(node("n", cpu="8"), quota("a", *cpus(0, 8)), quota("b", *cpus(0, 8)))
    cluster.submit("b", 8, 8)
    cluster.submit("a", 8)
    for first, a, b in (("b-0", "0", "8"), ("b-1", "0", "8"), ("a-0", "8", "0")):
        assert (cluster.used("a"), cluster.used("b")) == (a, b)
        cluster.world.finish(Ref("Workload", "lab", first))
        cluster.rest()
    assert (cluster.used("a"), cluster.used("b")) == ("0", "0")


def test_room_that_pods_wait_for_is_not_idle() -> None:
    cluster = Cluster(node("n", cpu="8"), quota("a", *cpus(0, 8)), quota("b", *cpus(0, 8)))
    cluster.create(pod("p", 8, quota="b"))
    cluster.submit("a", 8)
    assert cluster.admitted("a") == 0
    assert cluster.published("a")["runtime"] == '{"cpu":"4"}'
    assert cluster.world.api.delete(Ref("Pod", "lab", "p")).ok
    cluster.rest()
    assert cluster.admitted("a") == 1


leaves = st.tuples(st.integers(0, 6), st.integers(0, 8), st.booleans(), st.lists(st.integers(1, 9), max_size=4))


@settings(max_examples=10)
@given(st.integers(1, 16), st.lists(leaves, min_size=2, max_size=3))
def test_laws_of_elastic_quotas(total: int, rows: list[tuple[int, int, bool, list[int]]]) -> None:
    """Never more than there is, never more than `max`, and no job waits that could be let in."""
    names = "abc"[: len(rows)]
    cluster = Cluster(
        node("n", cpu=str(total)),
        *(
            quota(name, *cpus(least, least + more), allow_lent_resource=str(lends).lower())
            for name, (least, more, lends, _) in zip(names, rows, strict=True)
        ),
    )
    cluster.world.pause(True)
    for name, (*_, jobs) in zip(names, rows, strict=True):
        cluster.submit(name, *jobs)
    cluster.world.pause(False)
    cluster.rest(30)
    used = {name: int(cluster.used(name)) for name in names}
    assert sum(used.values()) <= total
    kept = sum(max(0, least - used[name]) for name, (least, _, lends, _) in zip(names, rows, strict=True) if not lends)
    for name, (least, more, _, _) in zip(names, rows, strict=True):
        assert used[name] <= least + more
        for waiting in cluster.waiting(name):
            assert waiting > min(total - sum(used.values()) - kept, least + more - used[name])


def test_a_simulation_reckons_with_nodes_and_pods_and_lets_parents_in_first(tmp_path: Path) -> None:
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "4"}}}
    train = {"restartPolicy": "Never", "containers": [container]}
    jobs = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"namespace": "lab", "name": name, "labels": {f"{KUEUE}/queue-name": "a"}},
            "spec": {"template": {"spec": train}},
        }
        for name in ("first", "second")
    ]
    made = [
        quota("a", *cpus(2, 12), "top"),
        quota("top", *cpus(4, 12), is_parent="true"),
        pod("busy", 3, "n", quota="a"),
        {**pod("ended", 9, "n", quota="a"), "status": {"phase": "Succeeded"}},
        pod("of-a-job", 4, "n", quota="a", workload="job-first"),
        node("n", cpu="10"),
        *jobs,
    ]
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(made))
    played, _ = prepared([tmp_path])
    played.run()
    (admitted, waits) = result(played)["workloads"]
    assert (admitted["admitted"], waits["admitted"]) == (0, None)
