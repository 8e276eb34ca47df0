"""The in-memory API server does what a real one does, as far as anybody here looks."""

from typing import Any

import pytest

from admission.model.kinds import Ref
from admission.model.selectors import LabelRule, Selector
from admission.world.answers import Answer
from admission.world.garbage import GarbageCollector
from admission.world.objects import ref_of
from admission.world.quantities import canonical
from admission.world.server import ApiServer
from tests.core.storms import KUEUE, pods
from tests.refusals import OWN_ROWS, ROWS, Write

NOW = 1767225600.0


@pytest.fixture
def api() -> ApiServer:
    api = ApiServer(lambda: NOW)
    assert api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}).ok
    return api


def job(name: str = "j", **spec: Any) -> dict[str, Any]:
    body = {"template": pods(1), "suspend": True, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "lab"}, "spec": body}


def secret(name: Any, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "lab", **metadata}}


def asks(resources: Any) -> dict[str, Any]:
    template = pods(1)
    template["spec"]["containers"][0]["resources"] = resources
    return template


JOB = Ref("Job", "lab", "j")
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": "1", "controller": True}


def body_of(api: ApiServer, ref: Ref) -> dict[str, Any]:
    body = api.get(ref).body
    assert body is not None
    return body


def test_uids_sort_in_order_of_creation(api: ApiServer) -> None:
    uids = [body["metadata"]["uid"] for n in range(12) if (body := api.create(secret(f"s{n}")).body) is not None]
    assert uids == sorted(uids)
    assert len(set(uids)) == 12


def test_a_creation_is_stamped_and_named(api: ApiServer) -> None:
    manifest = job()
    manifest["metadata"] = {"generateName": "run-", "namespace": "lab"}
    names = []
    for _ in range(2):
        body = api.create(manifest).body
        assert body is not None
        assert body["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
        assert body["metadata"]["generation"] == 1
        names.append(body["metadata"]["name"])
    assert names[0] != names[1]
    assert all(name.startswith("run-") for name in names)


def test_nobody_shares_what_is_stored(api: ApiServer) -> None:
    manifest = secret("s", labels={"a": "1"})
    created = api.create(manifest).body
    assert created is not None
    manifest["metadata"]["labels"]["a"] = created["metadata"]["labels"]["a"] = "2"
    api.list("Secret")[0]["metadata"]["labels"]["a"] = "3"
    assert body_of(api, Ref("Secret", "lab", "s"))["metadata"]["labels"] == {"a": "1"}


@pytest.mark.parametrize(
    ("manifest", "code", "part"),
    [
        (secret("s"), 409, 'secrets "s" already exists'),
        (secret("Not_A_Name"), 422, "RFC 1123"),
        (secret("x", namespace="nowhere"), 404, 'namespaces "nowhere" not found'),
        (secret("x", labels={"a": "x" * 64}), 422, "must be no more than 63 bytes"),
        (secret("x", labels={"a": 1}), 400, "unmarshal number into Go struct field ObjectMeta.metadata.labels of type"),
        (secret("x", labels=["a"]), 400, "cannot unmarshal array"),
        (secret("x", annotations={"a": ["b"]}), 400, "metadata.annotations of type string"),
        (secret("x", annotations={"a b": "c"}), 422, 'metadata.annotations: Invalid value: "a b": name part must'),
        (secret("x", annotations={"a": "b" * 262144}), 422, "Too long: may not be more than 262144 bytes"),
        (secret("x", finalizers="a"), 400, "of type []string"),
        (secret("x", finalizers=["a b"]), 422, 'metadata.finalizers: Invalid value: "a b": name part must'),
        (secret("x", ownerReferences=[OWNER | {"uid": ""}]), 422, 'metadata.ownerReferences.uid: Invalid value: ""'),
        (secret("x", ownerReferences=[{"controller": True}]), 422, 'apiVersion: Invalid value: "": version must not'),
        (secret("x", ownerReferences=[OWNER, OWNER | {"name": "b"}]), 422, '"true" in references for a and b'),
        (secret(5), 400, "cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"),
        (secret("", generateName="A"), 422, 'metadata.generateName: Invalid value: "A"'),
        (secret(""), 422, "metadata.name: Required value: name or generateName is required"),
        ({"apiVersion": "v1", "kind": "Secret", "metadata": ["x"]}, 400, "ObjectMeta.metadata of type v1.ObjectMeta"),
        (job("k" * 64), 422, f'spec.template.labels: Invalid value: "{"k" * 64}": must be no more than 63 bytes'),
        ({"metadata": {"name": "x"}}, 400, "kind"),
        ({"apiVersion": "batch/v9", "kind": "Job", "metadata": {"name": "x"}}, 400, 'kind "Job" in version "batch/v9"'),
        (
            {"apiVersion": "lockgate.dev/v9", "kind": "JobKind", "metadata": {"name": "x"}},
            400,
            'no matches for kind "JobKind" in version "lockgate.dev/v9"',
        ),
        (job("k", parallelism=-1), 422, "spec.parallelism: Invalid value: -1: must be greater"),
        (job("k", parallelism=True), 400, "bool into Go struct field JobSpec.spec.parallelism of type int32"),
        (job("k", template={"spec": []}), 400, "PodTemplateSpec.spec.template.spec of type v1.PodSpec"),
        (job("k", template=asks(True)), 400, "spec.template.spec.containers.resources of type v1.Resource"),
        (job("k", template=asks({"limits": {"cpu": None}})), 422, "limits[cpu]: Invalid value: null: must"),
        (job("k", template={"spec": {"containers": []}}), 422, "spec.template.spec.containers"),
    ],
)
def test_what_no_api_server_takes_is_refused(api: ApiServer, manifest: dict[str, Any], code: int, part: str) -> None:
    api.create(secret("s"))
    before = api.store.version
    answer = api.create(manifest)
    assert (answer.code, part in answer.message) == (code, True), answer
    assert api.store.version == before


def test_a_write_that_changes_nothing_has_no_version(api: ApiServer) -> None:
    api.create(job())
    before = api.store.version
    assert api.patch(JOB, {"spec": {"suspend": True}}).ok
    assert api.patch(JOB, {"metadata": {"labels": None}}).ok
    assert api.store.version == before


def test_the_generation_counts_changes_of_the_spec(api: ApiServer) -> None:
    api.create(job())
    api.patch(JOB, {"metadata": {"labels": {"a": "b"}}})
    api.patch(JOB, {"status": {"active": 1}}, subresource="status")
    assert body_of(api, JOB)["metadata"]["generation"] == 1
    api.patch(JOB, {"spec": {"suspend": False}})
    assert body_of(api, JOB)["metadata"]["generation"] == 2


def test_status_and_the_rest_are_written_apart(api: ApiServer) -> None:
    api.create({**job(), "status": {"active": 7}})
    assert "status" not in body_of(api, JOB)
    api.patch(JOB, {"spec": {"suspend": False}, "status": {"active": 1}}, subresource="status")
    assert body_of(api, JOB)["spec"]["suspend"] is True
    api.patch(JOB, {"spec": {"suspend": False}, "status": {"active": 2}})
    assert body_of(api, JOB)["status"] == {"active": 1}
    assert body_of(api, JOB)["spec"]["suspend"] is False


def test_a_write_from_an_older_version_conflicts(api: ApiServer) -> None:
    created = api.create(job())
    assert api.patch(JOB, {"metadata": {"labels": {"a": "b"}}}).ok
    assert created.version is not None
    late = {"metadata": {"resourceVersion": str(created.version), "labels": {"a": "c"}}}
    for answer in (
        api.patch(JOB, late),
        api.patch(JOB, {"spec": {"suspend": False}}, resource_version=created.version),
        api.replace(created.body or {}),
    ):
        assert (answer.code, answer.reason) == (409, "Conflict")
    assert body_of(api, JOB)["metadata"]["labels"] == {"a": "b"}


def test_json_patches_are_all_or_nothing(api: ApiServer) -> None:
    api.create(secret("s", labels={"a": "1", "b": "2"}))
    ref = Ref("Secret", "lab", "s")
    operations = [{"op": "remove", "path": "/metadata/labels/a"}, {"op": "remove", "path": "/metadata/labels/z"}]
    answer = api.patch(ref, operations)
    assert answer.code == 422
    assert "/metadata/labels/z" in answer.message
    assert api.patch(ref, [operations[0], {"op": "add", "path": "/metadata/labels/x~1y", "value": "3"}]).ok
    assert body_of(api, ref)["metadata"]["labels"] == {"b": "2", "x/y": "3"}


def test_a_dry_run_leaves_nothing(api: ApiServer) -> None:
    before = api.store.version
    answer = api.create(job(), dry_run=True)
    assert answer.code == 201
    assert api.get(JOB).code == 404
    assert api.store.version == before


def test_a_long_prefix_is_cut_so_that_the_generated_name_is_a_label(api: ApiServer) -> None:
    made = api.create(secret("", generateName="a" * 100)).body
    assert made is not None
    assert len(made["metadata"]["name"]) == 63


def test_a_null_label_is_the_empty_one(api: ApiServer) -> None:
    made = api.create(secret("s", labels={"a": None})).body
    assert made is not None
    assert made["metadata"]["labels"] == {"a": ""}


def test_what_is_being_deleted_gets_no_new_finalizer(api: ApiServer) -> None:
    api.create(secret("s", finalizers=["a.io/x"]))
    ref = Ref("Secret", "lab", "s")
    api.delete(ref)
    answer = api.patch(ref, {"metadata": {"finalizers": ["a.io/x", "a.io/y"]}})
    assert answer.message.endswith(
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"a.io/y"}'
    )


def test_finalizers_hold_what_is_deleted(api: ApiServer) -> None:
    api.create(secret("s", finalizers=["a/b"]))
    ref = Ref("Secret", "lab", "s")
    assert api.delete(ref).ok
    assert body_of(api, ref)["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    api.patch(ref, {"metadata": {"deletionTimestamp": None}})
    assert "deletionTimestamp" in body_of(api, ref)["metadata"]
    api.patch(ref, {"metadata": {"finalizers": None}})
    assert api.get(ref).code == 404


def test_a_deletion_can_be_meant_for_one_uid_only(api: ApiServer) -> None:
    api.create(secret("s"))
    assert api.delete(Ref("Secret", "lab", "s"), uid="another").code == 409
    assert api.get(Ref("Secret", "lab", "s")).ok


def owned_by(*uids: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": uid} for uid in uids]


def test_what_is_owned_goes_with_its_last_owner(api: ApiServer) -> None:
    garbage = GarbageCollector(api)
    first, second = (body_of_created(api, secret(name)) for name in ("one", "two"))
    api.create(secret("of-one", ownerReferences=owned_by(first)))
    api.create(secret("of-both", ownerReferences=owned_by(first, second)))
    api.create(secret("of-nobody", ownerReferences=owned_by("never-existed")))
    api.delete(Ref("Secret", "lab", "one"))
    while garbage.step():
        pass
    assert [s["metadata"]["name"] for s in api.list("Secret")] == ["two", "of-both", "of-nobody"]
    api.delete(Ref("Secret", "lab", "two"))
    while garbage.step():
        pass
    assert [s["metadata"]["name"] for s in api.list("Secret")] == ["of-nobody"]


def body_of_created(api: ApiServer, manifest: dict[str, Any]) -> str:
    body = api.create(manifest).body
    assert body is not None
    return str(body["metadata"]["uid"])


def test_a_namespace_goes_when_everything_in_it_has_gone(api: ApiServer) -> None:
    garbage = GarbageCollector(api)
    api.create(secret("held", finalizers=["a/b"]))
    api.create(secret("free"))
    api.delete(Ref("Namespace", "", "lab"))
    while garbage.step():
        pass
    assert [s["metadata"]["name"] for s in api.list("Secret")] == ["held"]
    assert api.create(secret("late")).code == 403
    api.patch(Ref("Secret", "lab", "held"), {"metadata": {"finalizers": None}})
    while garbage.step():
        pass
    assert api.get(Ref("Namespace", "", "lab")).code == 404


def test_lists_are_selected_by_labels(api: ApiServer) -> None:
    for name, team in (("a", "x"), ("b", "y"), ("c", "x")):
        api.create(secret(name, labels={"team": team}))
    selector = Selector((LabelRule("team", "In", ("x",)),))
    assert [s["metadata"]["name"] for s in api.list("Secret", "lab", selector)] == ["a", "c"]
    assert api.list("Secret", "elsewhere") == []


def test_a_watch_tells_later_what_happened_and_in_order(api: ApiServer) -> None:
    watch = api.watch("Secret")
    api.create(secret("a"))
    api.patch(Ref("Secret", "lab", "a"), {"metadata": {"labels": {"x": "y"}}})
    api.create(job())
    api.delete(Ref("Secret", "lab", "a"))
    assert [(change.type, change.ref.name) for change in watch.drain()] == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
    ]


# batch/v1 Job


def test_a_job_gets_its_defaults_once(api: ApiServer) -> None:
    created = api.create(job()).body
    assert created is not None
    spec = created["spec"]
    assert (spec["parallelism"], spec["completions"], spec["backoffLimit"]) == (1, 1, 6)
    assert spec["template"]["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "j"
    assert api.replace(created).version == int(created["metadata"]["resourceVersion"])


def test_a_template_changes_only_while_suspended_and_never_started(api: ApiServer) -> None:
    api.create(job())
    directives = {"spec": {"template": {"spec": {"nodeSelector": {"zone": "a"}}}}}
    image = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "other:2"}]
    assert api.patch(JOB, directives).ok
    assert "spec.template" in api.patch(JOB, image).message
    assert api.patch(JOB, {"spec": {"suspend": False, **directives["spec"]}}).ok
    api.patch(JOB, {"status": {"startTime": "2026-01-01T00:00:00Z"}}, subresource="status")
    assert api.patch(JOB, {"status": {"startTime": None}}, subresource="status").code == 422
    api.patch(JOB, {"spec": {"suspend": True}})
    other = {"spec": {"template": {"spec": {"nodeSelector": {"zone": "b"}}}}}
    assert api.patch(JOB, other).code == 422
    assert api.patch(JOB, {"status": {"startTime": None}}, subresource="status").ok
    assert api.patch(JOB, other).ok


@pytest.mark.parametrize(
    ("written", "stored"),
    [("0.5", "500m"), ("1024Mi", "1Gi"), ("1500M", "1500M"), ("2000", "2k"), ("0", "0"), ("1.5Gi", "1536Mi"),
     (2, "2"), ("x", None), (True, None), ("1e3", "1k")],
)  # fmt: skip
def test_quantities_of_a_job_are_stored_in_canonical_form(written: Any, stored: str | None) -> None:
    assert canonical(written) == stored


# our kinds


def test_our_kinds_get_defaults_and_lose_what_their_schema_does_not_know(api: ApiServer) -> None:
    queue = {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"unheard": 1}}
    assert api.create(queue).ok
    spec = body_of(api, Ref("ClusterQueue", "", "q"))["spec"]
    assert "unheard" not in spec
    assert spec["queueingStrategy"] == "BestEffortFIFO"


def test_our_kinds_are_judged_by_their_schema(api: ApiServer) -> None:
    queue = {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"stopPolicy": "Never"}}
    answer = api.create(queue)
    assert answer.code == 422
    assert "spec.stopPolicy" in answer.message


def test_what_the_schema_of_a_kind_of_ours_refuses_is_refused_here_too() -> None:
    rows = [row for row in (*ROWS, *OWN_ROWS) if row.by == "schema"]
    answers = {str(row): answered(row.refused) for row in rows}
    assert len(answers) > 250
    assert [str(row) for row in rows if answers[str(row)].code != 422] == []
    assert [str(row) for row in rows if row.words not in answers[str(row)].message] == []


def answered(write: Write) -> Answer:
    """By an API server without webhooks."""
    api = ApiServer(lambda: NOW)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
    if write.old is None:
        return api.create(write.new)
    assert api.create(write.old).ok
    if "status" in write.old:
        assert api.patch(ref_of(write.old), {"status": write.old["status"]}, subresource="status").ok
    return api.replace(write.new, subresource="status" if write.status else None)
