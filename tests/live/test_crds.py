"""A real API server serves our kinds as the models say: columns, defaults, refusals word for word."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from admission.api.crd import SERVED, definitions
from admission.api.defaults import with_defaults
from admission.api.violations import violations
from admission.model.kinds import KINDS
from hack.cluster import Cluster
from hack.cluster.api import Api
from tests.core.crd_cases import ALLOWED, ON_CREATE, ON_STATUS, ON_UPDATE, VALID, Object, Refusal, reserved

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Cluster.start() as cluster:
        calls = cluster.api()
        for definition in definitions():
            calls.apply(definition)
        names = [definition["metadata"]["name"] for definition in definitions()]
        cluster.until(lambda: all(_is_established(calls, name) for name in names), "the CRDs to be established")
        yield calls


def _crd(api: Api, name: str) -> Object:
    return api.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")


def _is_established(api: Api, name: str) -> bool:
    conditions = {item["type"]: item["status"] for item in _crd(api, name).get("status", {}).get("conditions", [])}
    return conditions.get("Established") == "True"


def _path(item: Object, name: str = "", subresource: str | None = None) -> str:
    return KINDS[item["kind"]].path(item["metadata"].get("namespace", ""), name, subresource)


@pytest.fixture
def made(api: Api) -> Iterator[list[Object]]:
    """Objects to be removed after the test."""
    objects: list[Object] = []
    yield objects
    for item in objects:
        api.delete(_path(item, item["metadata"]["name"]))


def _stored(api: Api, made: list[Object], item: Object) -> Object:
    """Create it, its status too."""
    created = api.create(_path(item), item)
    made.append(item)
    if "status" in item:
        return api.merge(_path(item, "a", "status"), {"status": item["status"]})
    return created


def _send(api: Api, method: str, path: str, body: Object) -> tuple[int, Object]:
    """Status and whole answer: what `Refused` shows of one is cut short."""
    headers = {"Authorization": f"Bearer {api.token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{api.server}{path}", json.dumps(body).encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=str(api.ca_file))) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def test_every_schema_is_structural_to_the_server(api: Api) -> None:
    for definition in definitions():
        conditions = _crd(api, definition["metadata"]["name"])["status"]["conditions"]
        assert not [item for item in conditions if item["type"] == "NonStructuralSchema"]


@pytest.mark.parametrize("kind", sorted(SERVED))
def test_defaults_are_the_servers_own(api: Api, made: list[Object], kind: str) -> None:
    stored = _stored(api, made, VALID[kind])
    ours = with_defaults(kind, VALID[kind])
    for field in ("spec", "value", "description"):
        assert stored.get(field) == ours.get(field)


@pytest.mark.parametrize("refusal", ON_CREATE, ids=str)
def test_the_server_refuses_in_the_words_that_we_refuse_in(api: Api, refusal: Refusal) -> None:
    _agree(_send(api, "POST", _path(refusal.wrong), refusal.wrong), refusal)


@pytest.mark.parametrize("refusal", ON_UPDATE, ids=str)
def test_the_server_refuses_the_same_changes(api: Api, made: list[Object], refusal: Refusal) -> None:
    assert refusal.old is not None
    stored = _stored(api, made, refusal.old)
    changed = {**stored, "spec": with_defaults(refusal.wrong["kind"], refusal.wrong)["spec"]}
    _agree(_send(api, "PUT", _path(changed, "a"), changed), refusal)


@pytest.mark.parametrize(("old", "new"), ALLOWED)
def test_the_server_allows_the_same_changes(api: Api, made: list[Object], old: Object, new: Object) -> None:
    stored = _stored(api, made, old)
    api.text("PUT", _path(stored, "a"), {**stored, "spec": new["spec"]})


@pytest.mark.parametrize("refusal", ON_STATUS, ids=str)
def test_the_server_refuses_the_same_statuses(api: Api, made: list[Object], refusal: Refusal) -> None:
    stored = _stored(api, made, {key: value for key, value in refusal.wrong.items() if key != "status"})
    changed = {**stored, "status": refusal.wrong["status"]}
    _agree(_send(api, "PUT", _path(stored, "a", "status"), changed), refusal)


def _agree(answer: tuple[int, Object], refusal: Refusal) -> None:
    """The server says what we expect, and every sentence that we would say."""
    status, said = answer
    kind = refusal.wrong["kind"]
    old = None if refusal.old is None else with_defaults(kind, refusal.old)
    ours = [str(error) for error in violations(kind, with_defaults(kind, refusal.wrong), old)]
    assert (status, bool(ours)) == (422, True), said["message"]
    for sentence in (refusal.said, *ours):
        # The door of the status says "conditions in body" of what the other one calls "status.conditions in body".
        assert sentence in said["message"] or sentence.replace(": status.", ": ") in said["message"]


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("ClusterQueue", ["Name", "Cohort", "Strategy", "Pending Workloads", "Admitted Workloads"]),
        ("LocalQueue", ["Name", "ClusterQueue", "Pending Workloads", "Admitted Workloads"]),
        ("Workload", ["Name", "Queue", "Reserved in", "Admitted", "Finished", "Age"]),
        ("WorkloadPriorityClass", ["Name", "Value"]),
    ],
)
def test_kubectl_shows_kueues_columns(api: Api, kind: str, columns: list[str]) -> None:
    request = urllib.request.Request(
        f"{api.server}{KINDS[kind].path()}",
        headers={
            "Authorization": f"Bearer {api.token}",
            "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io",
        },
    )
    with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=str(api.ca_file))) as answer:
        table = json.load(answer)
    assert [column["name"] for column in table["columnDefinitions"]] == columns


def test_workloads_can_be_selected_by_the_queue_that_admitted_them(api: Api, made: list[Object]) -> None:
    holder = {
        **reserved(),
        "status": {**reserved()["status"], "admission": {"clusterQueue": "team", "podSetAssignments": [{}]}},
    }
    _stored(api, made, holder)
    chosen = f"{KINDS['Workload'].path()}?fieldSelector=status.admission.clusterQueue%3D"
    assert len(api.get(chosen + "team")["items"]) == 1
    assert len(api.get(chosen + "other")["items"]) == 0
