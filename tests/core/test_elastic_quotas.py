"""Elastic quotas through the whole product: what may run, what is published, and who counts."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from admission.model.configuration import DEFAULTS
from admission.model.elastic_quota import PREFIX
from admission.model.kinds import KUEUE, Ref
from admission.readers.elastic_quota import read_elastic_quota
from admission.state import State
from admission.world.world import World

Object = dict[str, Any]


def quota(name: str, least: Object, most: Object, parent: str = "", *, namespace: str = "lab", **more: str) -> Object:
    """`more`: labels and annotations without their prefix, `_` for `-`."""
    words = {PREFIX + key.replace("_", "-"): said for key, said in more.items()}
    notes = {key: said for key, said in words.items() if said[:1] in "[{" or key.endswith("shared-weight")}
    labels = {key: said for key, said in words.items() if key not in notes}
    if parent:
        labels[f"{PREFIX}parent"] = parent
    meta = {"namespace": namespace, "name": name, "labels": labels, "annotations": notes}
    spec = {"min": least, "max": most}
    return {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": meta, "spec": spec}


def cpus(least: int, most: int) -> tuple[Object, Object]:
    return {"cpu": str(least)}, {"cpu": str(most)}


def node(name: str, **has: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": has}}


def pod(name: str, cpu: int, on: str = "", namespace: str = "lab", quota: str = "", workload: str = "") -> Object:
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": str(cpu)}}}
    labels = {f"{PREFIX}name": quota} if quota else {}
    notes = {f"{KUEUE}/workload": workload} if workload else {}
    meta = {"namespace": namespace, "name": name, "labels": labels, "annotations": notes}
    spec = {"containers": [container], **({"nodeName": on} if on else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


class Cluster:
    def __init__(self, *objects: Object) -> None:
        self.world = World(replace(DEFAULTS, wait_for_pods_ready=None), pods_stop_after=1.0)
        for name in ("lab", "team"):
            self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.create(*objects)
        self.rest()

    def create(self, *objects: Object) -> None:
        for one in objects:
            answer = self.world.api.create(one)
            assert answer.code == 201, answer.message

    def rest(self, seconds: float = 10.0) -> None:
        self.world.settle()
        self.world.advance(self.world.now + seconds)

    def submit(self, queue: str, *cpus: int, namespace: str = "lab") -> None:
        for number, cpu in enumerate(cpus):
            container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": str(cpu), "memory": "1Gi"}}}
            template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
            spec = {"queueName": queue, "podSets": [{"name": "main", "count": 1, "template": template}]}
            meta = {"namespace": namespace, "name": f"{queue}-{number}"}
            self.create({"apiVersion": f"{KUEUE}/v1beta2", "kind": "Workload", "metadata": meta, "spec": spec})
        self.rest()

    def admitted(self, queue: str) -> int:
        return sum(_is_true(one, "Admitted") for one in self.world.api.list("Workload") if _queue(one) == queue)

    def waiting(self, queue: str) -> list[int]:
        """How many cpus each asks for."""
        found = (one for one in self.world.api.list("Workload") if _queue(one) == queue)
        return [
            int(one["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            for one in found
            if not _is_true(one, "Admitted")
        ]

    def of(self, name: str, namespace: str = "lab") -> Object:
        body = self.world.api.get(Ref("ElasticQuota", namespace, name)).body
        assert body is not None
        return body

    def used(self, name: str) -> str:
        return str(self.of(name)["status"]["used"]["cpu"])

    def published(self, name: str) -> Object:
        notes = self.of(name)["metadata"]["annotations"]
        figures = ("runtime", "request", "child-request")
        return {figure: notes[f"{PREFIX}{figure}"] for figure in figures}


def _queue(workload: Object) -> str:
    return str(workload["spec"]["queueName"])


def _is_true(workload: Object, condition: str) -> bool:
    conditions = workload.get("status", {}).get("conditions", [])
    return any(one["type"] == condition and one["status"] == "True" for one in conditions)


def test_a_leaf_is_a_queue_and_gets_what_nobody_else_asks_for() -> None:
    cluster = Cluster(node("n", cpu="20"), quota("a", *cpus(4, 16)), quota("b", *cpus(4, 20)))
    cluster.submit("a", *[4] * 6)
    assert cluster.admitted("a") == 4, "its max"
    assert cluster.published("a") == {
        "runtime": '{"cpu":"16"}', "request": '{"cpu":"24"}', "child-request": '{"cpu":"24"}',
    }  # fmt: skip
    assert (cluster.used("a"), cluster.used("b")) == ("16", "0")


def test_memory_that_no_quota_names_is_free() -> None:
    cluster = Cluster(node("n", cpu="20", memory="1Gi"), quota("a", *cpus(4, 16)))
    cluster.submit("a", 1, 1, 1)
    assert cluster.admitted("a") == 3


def test_a_minimum_is_taken_back_from_who_borrowed_it() -> None:
    cluster = Cluster(node("n", cpu="20"), quota("a", *cpus(4, 20)), quota("b", *cpus(8, 20)))
    cluster.submit("a", *[4] * 5)
    assert cluster.admitted("a") == 5
    cluster.submit("b", 4, 4, 4)
    assert (cluster.admitted("a"), cluster.admitted("b")) == (3, 2)


def test_runtime_caps_what_is_admitted_beyond_the_minimum() -> None:
    """Both want all; the weights say 3 to 1, and the minimums come first: 4 + 9 and 4 + 3."""
    light, heavy = (f'{{"cpu":"{weight}"}}' for weight in (1, 3))
    cluster = Cluster(
        node("n", cpu="20"),
        quota("a", *cpus(4, 20), shared_weight=heavy),
        quota("b", *cpus(4, 20), shared_weight=light),
    )
    cluster.world.pause(True)
    cluster.submit("a", *[1] * 20)
    cluster.submit("b", *[1] * 20)
    cluster.world.pause(False)
    cluster.rest()
    assert (cluster.admitted("a"), cluster.admitted("b")) == (13, 7)
    assert cluster.published("b")["runtime"] == '{"cpu":"7"}'


def test_what_is_not_lent_stays_idle() -> None:
    cluster = Cluster(
        node("n", cpu="12"), quota("a", *cpus(8, 8), allow_lent_resource="false"), quota("b", *cpus(0, 12))
    )
    cluster.submit("b", *[1] * 12)
    assert cluster.admitted("b") == 4
    assert cluster.published("a")["request"] == '{"cpu":"8"}'


def test_a_parent_is_a_cohort_whose_children_share_its_maximum() -> None:
    cluster = Cluster(
        node("n", cpu="40"),
        quota("top", *cpus(10, 20), is_parent="true"),
        quota("x", *cpus(4, 40), "top"),
        quota("y", *cpus(2, 40), "top"),
        quota("other", *cpus(10, 40)),
    )
    cluster.submit("x", *[4] * 8)
    assert cluster.admitted("x") == 5
    assert cluster.published("top") == {
        "runtime": '{"cpu":"20"}', "request": '{"cpu":"32"}', "child-request": '{"cpu":"32"}',
    }  # fmt: skip
    assert cluster.used("top") == "20"


def test_without_nodes_only_minimums_are_shared() -> None:
    cluster = Cluster(quota("a", *cpus(4, 20)), quota("b", *cpus(3, 20)))
    cluster.submit("a", *[1] * 10)
    assert cluster.admitted("a") == 7


def test_too_small_a_cluster_shrinks_all_minimums() -> None:
    cluster = Cluster(node("n", cpu="6"), quota("a", *cpus(8, 8)), quota("b", *cpus(4, 8)))
    cluster.world.pause(True)
    cluster.submit("a", *[1] * 8)
    cluster.submit("b", *[1] * 8)
    cluster.world.pause(False)
    cluster.rest()
    assert (cluster.admitted("a"), cluster.admitted("b")) == (4, 2)


def test_pods_that_hold_a_node_use_the_quota_that_they_are_bound_to() -> None:
    cluster = Cluster(node("n", cpu="20"), quota("a", *cpus(4, 10)), quota("home", *cpus(1, 9), namespaces='["team"]'))
    cluster.create(
        pod("named", 3, "n", quota="a"),
        pod("waiting", 2, quota="a"),
        pod("by-namespace", 2, "n", namespace="team"),
        pod("anybody", 5, "n"),
    )
    cluster.rest()
    assert (cluster.used("a"), cluster.used("home")) == ("3", "2")
    assert cluster.published("a")["child-request"] == '{"cpu":"5"}'
    cluster.submit("a", *[1] * 10)
    assert (cluster.admitted("a"), cluster.used("a")) == (7, "10"), "its max, beside the pod"
    for name in ("named", "waiting"):
        cluster.world.finish(Ref("Pod", "lab", name))
    cluster.rest()
    assert cluster.admitted("a") == 10


def test_pods_of_its_workloads_are_counted_once() -> None:
    cluster = Cluster(node("n", cpu="20"), quota("a", *cpus(4, 10)))
    cluster.submit("a", 4)
    cluster.create(pod("one", 3, "n", quota="a", workload="a-0"), pod("other", 1, "n", workload="a-0"))
    cluster.rest()
    assert cluster.used("a") == "4"
    assert cluster.world.api.delete(Ref("Workload", "lab", "a-0")).ok
    cluster.rest()
    assert cluster.used("a") == "3", "nobody stands for the pods any more"


def test_a_quota_that_comes_late_counts_the_pods_that_were_there() -> None:
    cluster = Cluster(node("n", cpu="20"), pod("early", 2, "n", quota="late"))
    cluster.create(quota("late", *cpus(1, 4)))
    cluster.rest()
    assert cluster.used("late") == "2"
    cluster.world.finish(Ref("Pod", "lab", "early"))
    cluster.rest()
    assert cluster.used("late") == "0"


def test_a_real_cluster_queue_of_the_same_name_counts() -> None:
    cluster = Cluster(node("n", cpu="20"), quota("a", *cpus(4, 10)))
    spec: Object = {"namespaceSelector": {}, "resourceGroups": []}
    real = {"apiVersion": f"{KUEUE}/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": spec}
    cluster.create(real)
    cluster.rest()
    cluster.submit("a", 1)
    assert cluster.admitted("a") == 0
    assert any(event.about.name == "a" and "its quota counts" in event.message for event in cluster.world.events)
    assert cluster.world.api.delete(Ref("ClusterQueue", "", "a")).ok
    cluster.rest()
    assert cluster.admitted("a") == 1


def test_a_quota_that_goes_takes_its_queue_along() -> None:
    cluster = Cluster(node("n", cpu="20"), quota("a", *cpus(4, 10)))
    assert cluster.world.api.delete(Ref("ElasticQuota", "lab", "a")).ok
    cluster.rest()
    cluster.submit("a", 1)
    assert cluster.admitted("a") == 0
    cluster.create(quota("a", *cpus(4, 10)))
    cluster.rest()
    assert cluster.admitted("a") == 1


def test_trees_share_what_is_theirs() -> None:
    cluster = Cluster(
        node("n", cpu="20"),
        quota("blue", *cpus(8, 100), is_root="true", is_parent="true", tree_id="t", total_resource='{"cpu":"8"}'),
        quota("in-blue", *cpus(2, 100), "blue", tree_id="t"),
        quota("plain", *cpus(2, 100)),
    )
    cluster.submit("in-blue", *[1] * 10)
    cluster.submit("plain", *[1] * 20)
    assert (cluster.admitted("in-blue"), cluster.admitted("plain")) == (8, 12)


def test_the_flavor_of_quotas_is_there_before_the_jobs_that_were_let_in_with_it() -> None:
    state = State()
    state.observe("ElasticQuota", read_elastic_quota(quota("a", *cpus(4, 10))))
    assert state.objects.flavor("elastic-quota") is not None
    state.plan(1000.0)
    assert state.objects.flavor("elastic-quota") is not None
    assert state.objects.cluster_queue("a") is None, "pods and nodes have not been told of"
    state.gone(Ref("ElasticQuota", "lab", "a"))
    state.plan(1001.0)
    assert state.objects.flavor("elastic-quota") is None


def test_figures_are_written_at_most_once_a_second() -> None:
    cluster = Cluster(node("n", cpu="20"), quota("a", *cpus(4, 20)))
    before = len(cluster.world.writes)
    for number in range(20):
        cluster.create(pod(f"p{number}", 1, "n", quota="a"))
        cluster.world.settle()
        cluster.world.advance(cluster.world.now + 0.1)
    cluster.rest()
    times = [one.at for one in cluster.world.writes[before:] if one.ref.kind == "ElasticQuota"]
    assert cluster.used("a") == "20"
    assert len(times) <= 5
    assert all(later - earlier >= 0.999 for earlier, later in pairwise(times))
    cluster.rest(100)
    assert len(cluster.world.writes) == before + len(times), "nothing has changed since"
