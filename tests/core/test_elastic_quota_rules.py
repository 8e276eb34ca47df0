"""What is refused about elastic quotas and their pods, and what a new one gets, asked through the webhooks."""

from typing import Any

import pytest

from admission.answers.hooks import HOOKS
from admission.model.elastic_quota import PREFIX
from admission.model.kinds import Ref
from admission.validation.elastic_quota import validate_pod_quota
from admission.world.server import GARBAGE_COLLECTOR
from tests.core.test_elastic_quotas import Cluster, Object, cpus, pod, quota

TOP = quota("top", *cpus(10, 20), is_parent="true")
CHILD = quota("child", *cpus(6, 20), "top")


def refusal(cluster: Cluster, made: Object) -> str:
    answer = cluster.world.api.create(made)
    return "" if answer.ok else answer.message


def changed(cluster: Cluster, name: str, labels: Object | None = None, **patch: Any) -> str:
    said = {f"{PREFIX}{key.replace('_', '-')}": value for key, value in (labels or {}).items()}
    body = {"metadata": {"labels": said}, **patch}
    answer = cluster.world.api.patch(Ref("ElasticQuota", "lab", name), body)
    return "" if answer.ok else answer.message


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (quota("x", {"cpu": "-1"}, {"cpu": "1"}), 'spec.min[cpu]: Invalid value: "-1": x quota.Spec.Min\'s value < 0'),
        (quota("x", {}, {"cpu": "-1"}), "quota.Spec.Max's value < 0"),
        (quota("x", {"cpu": "3"}, {"cpu": "2"}), "resourceKey cpu of quota x has a min above its max, 2"),
        (quota("x", {"gpu": "1"}, {"cpu": "2"}), "resourceKey gpu of quota x has a min, which is not included in max"),
        (quota("x", *cpus(1, 2), shared_weight="{nonsense"), f"metadata.annotations[{PREFIX}shared-weight]"),
        (quota("x", *cpus(1, 2), shared_weight='{"cpu":"much"}'), "is not a quantity"),
        (quota("x", *cpus(1, 2), namespaces='{"not": "a list"}'), "must be a JSON list of namespaces"),
        (quota("x", *cpus(1, 2), namespaces='["team"]'), "namespace team is bound to quota home already"),
        (quota("child", *cpus(1, 2), namespace="team"), "names are unique over all namespaces: lab/child has this one"),
        (quota("x", *cpus(1, 2), "nowhere"), f'metadata.labels[{PREFIX}parent]: Not found: "nowhere"'),
        (quota("x", *cpus(1, 20), "child"), "quota child is no parent"),
        (quota("x", *cpus(5, 20), "top"), "all children's MinQuota > parent MinQuota: 11 of cpu below top"),
        (quota("x", {"cpu": "1"}, {"cpu": "2", "memory": "1Gi"}, "top"), "its keys must be those of top"),
        (quota("x", *cpus(1, 20), "top", tree_id="other"), "must be that of top in the same tree"),
        (quota("x", *cpus(4, 20), "top"), ""),
        (quota("x", *cpus(5, 20), "top", allow_force_update="true"), ""),
        (quota("x", *cpus(999, 9999)), ""),
    ],
)
def test_what_is_refused_of_a_new_quota(made: Object, told: str) -> None:
    cluster = Cluster(TOP, CHILD, quota("home", *cpus(0, 1), namespaces='["team"]'))
    said = refusal(cluster, made)
    assert told in said
    assert bool(told) == bool(said)


def test_minimums_need_the_keys_of_the_parents_minimums() -> None:
    most = {"cpu": "20", "gpu": "4"}
    cluster = Cluster(quota("top", {"cpu": "10"}, most, is_parent="true"))
    assert "min keys are not all included in those of parent top, which has no gpu" in refusal(
        cluster, quota("x", {"cpu": "1", "gpu": "1"}, most, "top")
    )


def test_what_is_refused_of_a_change() -> None:
    cluster = Cluster(TOP, CHILD, pod("p", 1, "n", quota="child"))
    assert "quota has children" in changed(cluster, "top", {"is_parent": "false"})
    assert "MinQuota > parent MinQuota" in changed(cluster, "top", spec={"min": {"cpu": "5"}})
    assert "keys must be those of child" in changed(cluster, "top", spec={"max": {"gpu": "5"}})
    assert "quota has pods" in changed(cluster, "child", {"is_parent": "true"})
    assert "immutable" in changed(cluster, "child", {"tree_id": "t"})
    assert "top is below child itself" not in changed(cluster, "child", spec={"min": {"cpu": "7"}})
    assert "child is below top itself" in changed(cluster, "top", {"parent": "child"})
    strict = {"annotations": {f"{PREFIX}max-strict-check-resource-keys": '["cpu"]'}}
    cluster.create(quota("busy", *cpus(1, 9)), pod("q", 8, "n", quota="busy"))
    cluster.rest()
    assert changed(cluster, "busy", metadata=strict) == ""
    assert "uses more of cpu now" in changed(cluster, "busy", spec={"max": {"cpu": "7"}})
    assert changed(cluster, "busy", spec={"max": {"cpu": "8"}}) == ""


def test_what_has_been_wrong_for_long_stops_no_other_write() -> None:
    cluster = Cluster(TOP, CHILD)
    stored = cluster.world.api.store
    wrong = {**cluster.of("child"), "spec": {"min": {"cpu": "-6"}, "max": {"cpu": "20"}}}
    stored.put(Ref("ElasticQuota", "lab", "child"), cluster.of("child"), wrong)
    assert changed(cluster, "child", {"allow_lent_resource": "false"}) == ""
    assert "value < 0" in changed(cluster, "child", spec={"min": {"cpu": "-7"}})


def test_what_may_not_go() -> None:
    cluster = Cluster(TOP, CHILD, quota("koordinator-default-quota", *cpus(0, 9)), pod("p", 1, quota="child"))

    def deleted(name: str, user: str = "admin") -> str:
        return cluster.world.api.delete(Ref("ElasticQuota", "lab", name), user=user).message

    assert "metadata.name: Forbidden: quota has children, delete them first: child" in deleted("top")
    assert "quota has pods" in deleted("child")
    assert "built in" in deleted("koordinator-default-quota")
    assert cluster.world.api.delete(Ref("Pod", "lab", "p")).ok
    assert deleted("child") == deleted("top") == ""
    assert deleted("koordinator-default-quota", GARBAGE_COLLECTOR) == ""


def test_a_new_quota_gets_a_parent_its_tree_and_its_weights() -> None:
    cluster = Cluster(quota("blue", *cpus(8, 9), is_root="true", is_parent="true", tree_id="t"))
    most = {"cpu": "9"}
    cluster.create(quota("x", {}, most, "blue", shared_weight='{"gpu":"3"}'), quota("y", {}, {"cpu": 4, "gpu": "1"}))
    first, second = cluster.of("x")["metadata"], cluster.of("y")["metadata"]
    assert first["labels"][f"{PREFIX}tree-id"] == "t"
    assert first["annotations"][f"{PREFIX}shared-weight"] == '{"cpu":"9"}'
    assert second["labels"][f"{PREFIX}parent"] == "koordinator-root-quota"
    assert second["annotations"][f"{PREFIX}shared-weight"] == '{"cpu":4,"gpu":"1"}'
    assert f"{PREFIX}parent" not in cluster.of("blue")["metadata"]["labels"]


def test_pods_belong_to_leaves() -> None:
    cluster = Cluster(TOP, CHILD, quota("home", *cpus(0, 1), is_parent="true", namespaces='["team"]'))
    quotas = cluster.world.api._webhooks.view.elastic_quotas()  # type: ignore[union-attr]

    def told(labels: Object, namespace: str = "lab", before: Object | None = None) -> str:
        said = {f"{PREFIX}{key}": value for key, value in labels.items()}
        was = None if before is None else {f"{PREFIX}{key}": value for key, value in before.items()}
        return ", ".join(map(str, validate_pod_quota(said, was, namespace, quotas)))

    assert "can not be linked to a parentQuotaGroup: name a child of top" in told({"name": "top"})
    assert "to which namespace team is bound" in told({}, "team")
    assert told({"name": "child"}, "team") == told({}) == told({"name": "unknown"}) == ""
    assert "field is immutable" in told({"preemptible": "false"}, before={})
    assert told({"preemptible": "false", "name": "top"}, before={"preemptible": "false"}) == ""


def test_deletions_of_other_kinds_are_never_asked_about() -> None:
    assert [hook.kind for hook in HOOKS if "DELETE" in hook.operations] == ["ElasticQuota"]
