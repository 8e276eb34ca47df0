"""Every kind of job is stamped alike: held by its own field alone, and let through below a managed owner."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.answers import Answer, Operation, Request, answer, hooks_for
from admission.answers.hooks import job_hooks
from admission.jobs.described import described
from admission.jobs.places import value_at
from admission.jobs.registry import JOB_KINDS
from admission.model.effects import PodSetInfo
from admission.model.kinds import kind_of
from admission.model.names import WORKLOAD_ANNOTATION
from admission.readers.job_kind import read_job_kind
from tests.core.job_kind_laws import spoilt
from tests.core.manifests import SAMPLES
from tests.core.manifests.pods import Object
from tests.core.test_job_kinds_in_state import SWEEP, job_kind, sweep
from tests.core.test_jobs import merged
from tests.core.test_stamping import QUEUE, Cluster, patched

DESCRIPTIONS: dict[str, Object] = {
    "a boolean": {"suspend": {"path": "spec.suspend"}},
    "a word": {"suspend": {"path": "spec.state", "held": "Pending", "released": None}},
    "an annotation": {"suspend": {"annotation": "acme.io/hold", "held": "true", "released": None}},
    "gone once started": {"suspend": {"path": "spec.suspend"}, "stop": "Delete"},
}
every_kind = pytest.mark.parametrize("kind", list(JOB_KINDS))


def cluster_of(*job_kinds: Object, **more: Any) -> Cluster:
    """A cluster in which these JobKinds are."""
    made = Cluster(**more)
    for wire in job_kinds:
        found = read_job_kind(wire)
        assert found.rules is not None, found.problem
        made.job_kinds.describe(found.name, found.kind, described(found.kind, found.rules))
    return made


def asked(kind: str, cluster: Cluster, new: Any, old: Any = None, verb: str = "mutate") -> Answer:
    operation: Operation = "CREATE" if old is None else "UPDATE"
    (path,) = [hook.path for hook in hooks_for(kind, operation) if hook.verb == verb]
    return answer(path, Request(operation, "lab", new, old), cluster)


def any_job(kind: str) -> Object:
    """Without a hold, in whose place not even its parents are."""
    one = kind_of(kind)
    metadata = {"name": "a", "namespace": "lab", "labels": {QUEUE: "q"}, "uid": "u"}
    return {"apiVersion": one.api_version, "kind": one.kind, "metadata": metadata, "spec": {"unknown": [{"x": None}]}}


@every_kind
def test_a_job_of_any_kind_that_names_a_queue_is_held_where_its_kind_is_held(kind: str) -> None:
    said = asked(kind, Cluster(), any_job(kind))
    assert [operation["op"] for operation in said.patch] == ["add"]
    made = patched(any_job(kind), said.patch)
    assert JOB_KINDS[kind].read(made).suspended
    assert made["spec"]["unknown"] == any_job(kind)["spec"]["unknown"]
    assert asked(kind, Cluster(), made).patch == ()


@every_kind
def test_what_comes_over_the_wire_is_answered_like_what_is_parsed(kind: str) -> None:
    made = any_job(kind)
    assert asked(kind, Cluster(), msgspec.json.encode(made)) == asked(kind, Cluster(), made)


@every_kind
def test_a_job_of_any_kind_takes_the_default_queue(kind: str) -> None:
    made = any_job(kind)
    del made["metadata"]["labels"]
    assert asked(kind, Cluster(), made).patch == ()
    made = patched(made, asked(kind, Cluster(defaults=("lab",)), made).patch)
    assert made["metadata"]["labels"] == {QUEUE: "default"}
    assert JOB_KINDS[kind].read(made).suspended


@every_kind
@pytest.mark.parametrize("queued", [True, False])
def test_a_child_of_a_managed_owner_of_any_kind_is_let_through(kind: str, queued: bool) -> None:
    owner = any_job(kind)["metadata"] | {"labels": {QUEUE: "q"} if queued else {}}
    reference = {"apiVersion": kind_of(kind).api_version, "kind": kind, "name": "a", "uid": "u", "controller": True}
    child = any_job("RayCluster")
    child["metadata"]["ownerReferences"] = [reference]
    cluster = Cluster(owners={"a": {"metadata": owner}}, defaults=("lab",))
    assert (asked("RayCluster", cluster, child).patch == ()) == queued
    child["metadata"]["ownerReferences"] = [reference | {"uid": "forged"}]
    assert asked("RayCluster", cluster, child).patch
    del child["metadata"]["labels"]
    child["metadata"]["ownerReferences"] = [reference]
    assert asked("RayCluster", cluster, child).patch == ()  # not even by the default queue


def test_an_owner_of_an_older_version_is_an_owner() -> None:
    reference = {"apiVersion": "ray.io/v1alpha1", "kind": "RayJob", "name": "a", "uid": "u", "controller": True}
    child = any_job("RayCluster")
    child["metadata"]["ownerReferences"] = [reference]
    assert asked("RayCluster", Cluster(owners={"a": any_job("RayJob")}), child).patch == ()


def test_jobs_of_kinds_that_are_not_listed_are_none_of_ours_and_nor_are_they_as_owners() -> None:
    cluster = Cluster(frameworks=("RayCluster",))
    assert asked("RayJob", cluster, any_job("RayJob")) == Answer()
    wrong = any_job("RayJob")
    wrong["metadata"]["labels"][QUEUE] = "No_Name"
    assert asked("RayJob", cluster, wrong, verb="validate") == Answer()
    child = any_job("RayCluster")
    child["metadata"]["ownerReferences"] = [
        {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "a", "uid": "u", "controller": True}
    ]
    assert asked("RayCluster", cluster, child).patch
    assert cluster.read == []


def test_a_ray_job_for_a_cluster_that_is_there_already_is_not_held() -> None:
    made = any_job("RayJob")
    made["spec"]["clusterSelector"] = {"ray.io/cluster": "shared"}
    assert asked("RayJob", Cluster(), made).patch == ()


@pytest.mark.parametrize("spec", ["text", 5, [], {"runPolicy": "text"}, {"runPolicy": []}])
def test_what_has_no_room_for_a_hold_is_refused_by_name(spec: Any) -> None:
    said = asked("TFJob", Cluster(), any_job("TFJob") | {"spec": spec})
    assert (said.allowed, said.code) == (False, 400)
    assert said.message.startswith(("spec: Invalid value: must be an object", "spec.runPolicy: Invalid value"))


@pytest.mark.parametrize("spec", [None, {}, {"runPolicy": None}, {"runPolicy": {}}])
def test_what_is_missing_on_the_way_to_the_hold_is_made(spec: Any) -> None:
    made = any_job("TFJob") | {"spec": spec}
    assert patched(made, asked("TFJob", Cluster(), made).patch)["spec"] == {"runPolicy": {"suspend": True}}


@pytest.mark.parametrize("verb", ["mutate", "validate"])
def test_half_a_character_is_refused_and_not_choked_on(verb: str) -> None:
    for kind in ("Job", "TFJob"):
        said = asked(kind, Cluster(), any_job(kind) | {"metadata": "\ud800"}, verb=verb)
        assert (said.allowed, said.code) == (False, 400)


@every_kind
@settings(max_examples=2)
@given(data=st.data())
def test_stamping_changes_nothing_but_the_hold_and_changes_it_once(kind: str, data: st.DataObject) -> None:
    _stamped_once(kind, data)


@pytest.mark.long
@every_kind
@settings(max_examples=300)
@given(data=st.data())
def test_stamping_never_changes_anything_but_the_hold(kind: str, data: st.DataObject) -> None:
    _stamped_once(kind, data)


@settings(max_examples=15)
@given(data=st.data())
def test_no_garbage_makes_a_webhook_fail(data: st.DataObject) -> None:
    _garbage_is_answered(data)


@pytest.mark.long
@settings(max_examples=3000)
@given(data=st.data())
def test_no_garbage_ever_makes_a_webhook_fail(data: st.DataObject) -> None:
    _garbage_is_answered(data)


def _stamped_once(kind: str, data: st.DataObject) -> None:
    sample, hold = data.draw(SAMPLES[kind]), JOB_KINDS[kind].hold
    written = merged(sample.manifest, hold.patch(held=False))
    held = patched(written, asked(kind, Cluster(), written).patch)
    assert merged(held, hold.patch(held=False)) == written
    assert asked(kind, Cluster(), held).patch == ()
    # Applied again, it stays as it was; started by the product, it goes.
    said = asked(kind, Cluster(), written, held)
    assert patched(written, said.patch) == held
    assert [warning.partition(":")[0] for warning in said.warnings] == [".".join(str(part) for part in hold.path)]
    infos = [PodSetInfo(pods.name, pods.count, {}, (), {}, {WORKLOAD_ANNOTATION: "w"}) for pods in sample.pods]
    started = merged(held, JOB_KINDS[kind].start(held, infos))
    assert asked(kind, Cluster(), started, held) == Answer()


def _garbage_is_answered(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(SAMPLES)))
    manifest = data.draw(SAMPLES[kind]).manifest
    wrong = data.draw(spoilt(merged(manifest, JOB_KINDS[kind].hold.patch(held=False))))
    for verb in ("mutate", "validate"):
        for new, old in ((wrong, None), (wrong, manifest), (manifest, wrong)):
            said = asked(kind, Cluster(), new, old, verb)
            assert said.allowed or said.message


# described kinds


def sweep_without_hold() -> Object:
    made = sweep()
    made["metadata"]["labels"] = {QUEUE: "q"}
    made["spec"].pop("suspend")
    return made


@pytest.mark.parametrize("how", DESCRIPTIONS)
def test_a_described_kind_is_held_as_it_is_described(how: str) -> None:
    cluster = cluster_of(job_kind(**DESCRIPTIONS[how]))
    descriptor, written = cluster.job_kinds[SWEEP], sweep_without_hold()
    held = patched(written, asked(SWEEP, cluster, written).patch)
    assert value_at(held, descriptor.hold.path) == descriptor.hold.held
    assert patched(written, asked(SWEEP, cluster, written, held).patch) == held
    infos = [PodSetInfo("main", 2, {}, (), {}, {WORKLOAD_ANNOTATION: "w"})]
    started = merged(held, descriptor.start(held, infos))
    assert asked(SWEEP, cluster, started, held) == Answer()


def test_paths_of_described_kinds_follow_kueues_rule_and_come_and_go_with_their_job_kind() -> None:
    path, review = "/mutate-experiments.example-v1-sweep", Request("CREATE", "lab", sweep_without_hold())
    cluster = cluster_of(job_kind())
    assert answer(path, review, cluster).patch
    cluster.job_kinds.forget("sweep")
    assert answer(path, review, cluster) == Answer(False, f"no webhook is served at {path}", code=404)


def test_a_described_owner_is_an_owner() -> None:
    owner = sweep_without_hold()
    reference = {"apiVersion": "experiments.example/v2", "kind": "Sweep", "controller": True}
    child = any_job("TFJob")
    child["metadata"]["ownerReferences"] = [reference | {"name": "a", "uid": owner["metadata"]["uid"]}]
    assert asked("TFJob", cluster_of(job_kind(), owners={"a": owner}), child).patch == ()
    assert asked("TFJob", cluster_of(owners={"a": owner}), child).patch


def test_what_a_described_kind_calls_a_queue_becomes_the_label() -> None:
    cluster = cluster_of(job_kind(queue="spec.team"), defaults=("lab",))
    made = sweep_without_hold()
    del made["metadata"]["labels"]
    made["spec"]["team"] = "a"
    made = patched(made, asked(SWEEP, cluster, made).patch)
    assert (made["metadata"]["labels"], made["spec"]["suspend"]) == ({QUEUE: "a"}, True)
    assert asked(SWEEP, cluster, made).patch == ()


@every_kind
def test_every_kind_that_is_built_in_has_hooks_on_creation_and_change(kind: str) -> None:
    assert [[hook.verb for hook in hooks_for(kind, operation)] for operation in ("CREATE", "UPDATE")] == [
        ["mutate", "validate"]
    ] * 2
    assert hooks_for(kind, "UPDATE", "status") == ()


def test_groups_that_differ_in_a_dot_have_paths_of_their_own() -> None:
    """Jobs of one kind would else be held as those of the other are."""
    paths = [hook.path for group in ("a.b", "a-b") for hook in job_hooks(f"Sweep.v1.{group}")]
    assert len(set(paths)) == 4
