"""Both versions of our kinds in the in-memory API server: written and read in either, stored as the newer."""

from typing import Any

import pytest

from admission.model.kinds import Ref
from admission.world.server import ApiServer
from tests.core.crd_cases import POD_SET, condition

Object = dict[str, Any]
OLD, NEW = "v1beta1", "v1beta2"
QUEUE, WORKLOAD = Ref("ClusterQueue", "", "a"), Ref("Workload", "default", "a")


@pytest.fixture
def api() -> ApiServer:
    server = ApiServer(lambda: 0.0)
    assert server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}).ok
    return server


def old(kind: str, **spec: Any) -> Object:
    return {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def stored(api: ApiServer, ref: Ref) -> Object:
    found = api.get(ref).body
    assert found is not None
    return found


def test_what_is_written_in_the_older_version_is_stored_in_the_newer_and_answered_in_its_own(api: ApiServer) -> None:
    answer = api.create(old("ClusterQueue", cohort="team", flavorFungibility={"whenCanBorrow": "Borrow"}, typo=1))
    assert answer.body is not None
    assert (answer.body["apiVersion"], answer.body["spec"]["cohort"]) == ("kueue.x-k8s.io/v1beta1", "team")
    kept = stored(api, QUEUE)
    assert (kept["apiVersion"], kept["spec"]["cohortName"]) == ("kueue.x-k8s.io/v1beta2", "team")
    assert kept["spec"]["flavorFungibility"] == {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"}
    assert "typo" not in kept["spec"]
    read = api.peek_as(QUEUE, OLD)
    assert read is not None
    assert read["spec"]["cohort"] == "team"
    assert api.peek_as(QUEUE, NEW) == api.peek(QUEUE)
    assert api.peek_as(Ref("ClusterQueue", "", "none"), OLD) is None


def test_a_patch_of_the_older_version_leaves_everything_else(api: ApiServer) -> None:
    api.create(old("ClusterQueue", cohort="team"))
    answer = api.patch(QUEUE, {"spec": {"cohort": "other"}}, version=OLD)
    assert answer.body is not None
    assert answer.body["spec"]["cohort"] == "other"
    assert stored(api, QUEUE)["spec"]["cohortName"] == "other"
    assert api.patch(QUEUE, [{"op": "remove", "path": "/spec/cohort"}], version=OLD).ok
    assert "cohortName" not in stored(api, QUEUE)["spec"]
    usage = {"status": {"pendingWorkloads": 3, "pendingWorkloadsStatus": {"lastChangeTime": "2026-01-02T03:04:05Z"}}}
    assert api.patch(QUEUE, usage, subresource="status", version=OLD).ok
    assert stored(api, QUEUE)["status"] == {"pendingWorkloads": 3}


def test_each_version_is_judged_by_its_own_schema(api: ApiServer) -> None:
    answer = api.create(old("ClusterQueue", flavorFungibility={"whenCanBorrow": "Sometimes"}))
    assert answer.code == 422
    assert 'supported values: "MayStopSearch", "TryNextFlavor", "Borrow"' in answer.message
    answer = api.create(
        {**old("ClusterQueue", flavorFungibility={"whenCanBorrow": "Borrow"}), "apiVersion": "kueue.x-k8s.io/v1beta2"}
    )
    assert answer.code == 422


def test_a_class_that_is_kept_while_quota_is_held_is_kept_in_the_older_version_too(api: ApiServer) -> None:
    named = {"priorityClassName": "gold", "priorityClassSource": "scheduling.k8s.io/priorityclass", "priority": 1}
    assert api.create(old("Workload", podSets=[POD_SET], **named)).ok
    held = {"status": {"conditions": [condition("QuotaReserved")]}}
    assert api.patch(WORKLOAD, held, subresource="status", version=OLD).ok
    answer = api.patch(WORKLOAD, {"spec": {"priorityClassName": "other"}}, version=OLD)
    assert answer.code == 422
    assert "priorityClassName is immutable while workload quota reserved" in answer.message
    assert api.patch(WORKLOAD, {"metadata": {"labels": {"note": "x"}}}, version=OLD).ok


@pytest.mark.parametrize("spec", [[], {"podSets": 7}])
def test_what_is_no_object_of_the_kind_is_refused(api: ApiServer, spec: Any) -> None:
    answer = api.create({**old("Workload"), "spec": spec})
    assert answer.code in (400, 422)
    assert "spec" in answer.message


def test_a_version_that_is_not_served_is_refused(api: ApiServer) -> None:
    answer = api.create({**old("ClusterQueue"), "apiVersion": "kueue.x-k8s.io/v1alpha1"})
    assert answer.code == 400
    assert "v1alpha1" in answer.message
