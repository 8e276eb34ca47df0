"""Both versions of our kinds on a real API server, converted by the webhooks; storage moved to the newer one."""

import http.client
import json
import ssl
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from admission.api.crd import CONVERTED, SERVED, crd_name, definition
from admission.model.kinds import KINDS
from hack.cluster import Api, Cluster, Refused
from hack.cluster.wait import until
from tests.core.crd_cases import POD_SET, SINCE, VALID, condition
from tests.live.webhook_process import Webhooks, lockgate, webhooks

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

Object = dict[str, Any]
NEW, OLD = "/apis/kueue.x-k8s.io/v1beta2", "/apis/kueue.x-k8s.io/v1beta1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SPACE = "/namespaces/default"
NOBODY = "https://127.0.0.1:1"  # where no webhooks answer
WARNING = "This version is deprecated. Use v1beta2 instead."


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Webhooks]]:
    with Cluster.start() as cluster, webhooks(cluster, tmp_path_factory.mktemp("versions") / "log") as server:
        yield cluster, server


@pytest.fixture
def api(running: tuple[Cluster, Webhooks]) -> Api:
    return running[0].api()


def old(kind: str, name: str, **fields: Any) -> Object:
    return {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": kind, "metadata": {"name": name}, **fields}


def flavors() -> list[Object]:
    return [
        {"coveredResources": ["cpu"], "flavors": [{"name": "std", "resources": [{"name": "cpu", "nominalQuota": 4}]}]}
    ]


def _made(api: Api, path: str, item: Object) -> Object:
    """Created once the webhooks' authority has reached the definition."""
    made: list[Object] = []

    def accepted() -> bool:
        try:
            made.append(api.create(path, item))
        except Refused as refused:
            if refused.status == 500:  # the conversion webhook is not trusted yet
                return False
            raise
        return True

    until(accepted, 60, f"{item['kind']} to be accepted")
    return made[0]


def test_a_queue_written_in_old_words_is_read_in_both(api: Api) -> None:
    spec = {
        "cohort": "team",
        "resourceGroups": flavors(),
        "admissionChecks": ["audit"],
        "flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"},
    }
    said = _made(api, f"{OLD}/clusterqueues", old("ClusterQueue", "words", spec=spec))
    assert (said["apiVersion"], said["spec"]["cohort"]) == ("kueue.x-k8s.io/v1beta1", "team")
    stored = api.get(f"{NEW}/clusterqueues/words")["spec"]
    assert stored["cohortName"] == "team"
    assert stored["admissionChecksStrategy"] == {"admissionChecks": [{"name": "audit"}]}
    assert stored["flavorFungibility"] == {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"}
    assert "cohort" not in stored
    assert api.get(f"{OLD}/clusterqueues/words")["spec"]["cohort"] == "team"
    assert [item["spec"]["cohort"] for item in api.get(f"{OLD}/clusterqueues")["items"]] == ["team"]


def test_what_is_written_in_new_words_is_read_and_changed_in_old_ones(api: Api) -> None:
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "q"}}
    api.create(f"{NEW}{SPACE}/localqueues", {**queue, "spec": {"clusterQueue": "words"}})
    usage = [{"name": "std", "resources": [{"name": "cpu", "total": "2"}]}]
    api.merge(f"{NEW}{SPACE}/localqueues/q/status", {"status": {"flavorsUsage": usage}})
    assert api.get(f"{OLD}{SPACE}/localqueues/q")["status"] == {"flavorUsage": usage}
    api.merge(f"{OLD}{SPACE}/localqueues/q", {"spec": {"stopPolicy": "Hold"}})
    api.merge(f"{OLD}{SPACE}/localqueues/q/status", {"status": {"pendingWorkloads": 3}})
    after = api.get(f"{NEW}{SPACE}/localqueues/q")
    assert after["spec"] == {"clusterQueue": "words", "stopPolicy": "Hold"}
    assert after["status"] == {"flavorsUsage": usage, "pendingWorkloads": 3}


def test_a_workload_that_holds_quota_is_patched_in_old_words(api: Api) -> None:
    fields = {"priorityClassName": "gold", "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}
    for name, spec in (("classed", {**fields, "priority": 10}), ("plain", {})):
        made = _made(api, f"{OLD}{SPACE}/workloads", old("Workload", name, spec={"podSets": [POD_SET], **spec}))
        assert made["spec"].get("priorityClassName") == spec.get("priorityClassName")
        domains = [{"values": [f"node-{number}"], "count": 1} for number in range(3)]
        assignment = {"levels": ["kubernetes.io/hostname"], "domains": domains}
        held = {
            "conditions": [condition("QuotaReserved"), condition("Admitted")],
            "admission": {
                "clusterQueue": "words",
                "podSetAssignments": [{"name": "main", "count": 3, "topologyAssignment": assignment}],
            },
            "accumulatedPastExexcutionTimeSeconds": 7,
        }
        api.merge(f"{OLD}{SPACE}/workloads/{name}/status", {"status": held})
        patched = api.merge(f"{OLD}{SPACE}/workloads/{name}", {"metadata": {"labels": {"note": "x"}}})
        assert patched["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] == assignment
        stored = api.get(f"{NEW}{SPACE}/workloads/{name}")
        assert stored["metadata"]["labels"] == {"note": "x"}
        assert stored["status"]["accumulatedPastExecutionTimeSeconds"] == 7
        (part,) = stored["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]["slices"]
        assert part["valuesPerLevel"] == [{"individual": {"prefix": "node-", "roots": ["0", "1", "2"]}}]
    classed = api.get(f"{NEW}{SPACE}/workloads/classed")["spec"]["priorityClassRef"]
    assert classed == {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "gold"}
    with pytest.raises(Refused, match="priorityClassSource is immutable while workload quota reserved"):
        api.merge(
            f"{OLD}{SPACE}/workloads/classed", {"spec": {"priorityClassSource": "scheduling.k8s.io/priorityclass"}}
        )
    chosen = f"{NEW}/workloads?fieldSelector=status.admission.clusterQueue%3Dwords"
    assert len(api.get(chosen)["items"]) == 2


@pytest.mark.parametrize("kind", sorted(SERVED))
def test_every_kind_is_read_in_both_versions_and_v1beta1_warns(api: Api, kind: str) -> None:
    item = deepcopy(VALID[kind])
    item["metadata"]["name"] = "both"
    new = KINDS[kind].path("default" if KINDS[kind].namespaced else "")
    _made(api, new, item)
    found, warning = _with_warning(api, f"{new}/both".replace("v1beta2", "v1beta1"))
    assert (found["apiVersion"], found["metadata"]["name"]) == ("kueue.x-k8s.io/v1beta1", "both")
    assert WARNING in warning
    assert _with_warning(api, f"{new}/both")[1] == ""


def test_kubectl_knows_the_short_names_in_both_versions(api: Api) -> None:
    for version in (NEW, OLD):
        named = {
            each["kind"]: each.get("shortNames") for each in api.get(version)["resources"] if "/" not in each["name"]
        }
        assert {kind: list(SERVED[kind].short_names) for kind in SERVED} == named


def test_the_authorities_of_the_webhooks_are_in_every_definition(api: Api) -> None:
    for kind in CONVERTED:
        webhook = api.get(f"{CRDS}/{crd_name(kind)}")["spec"]["conversion"]["webhook"]
        assert webhook["clientConfig"]["caBundle"]


def _with_warning(api: Api, path: str) -> tuple[Object, str]:
    tls = ssl.create_default_context(cafile=str(api.ca_file))
    connection = http.client.HTTPSConnection(urlsplit(api.server).netloc, context=tls, timeout=30)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {api.token}"})
        answer = connection.getresponse()
        return json.loads(answer.read()), answer.headers.get("Warning", "")
    finally:
        connection.close()


def _stored_as_old(kind: str) -> Object:
    """The definition as an installation from the time of v1beta1 left it; of Cohorts another way to its webhook."""
    service = {"namespace": "kueue-system", "name": "kueue-webhook-service", "path": "/convert"}
    other = {"service": service, "caBundle": "Cg=="}  # what stands there before a certificate does
    found = deepcopy(definition(kind, other if kind == "Cohort" else {"url": f"{NOBODY}/convert"}))
    for version in found["spec"]["versions"]:
        version["storage"] = version["name"] == "v1beta1"
    return found


def test_objects_that_were_stored_as_v1beta1_are_rewritten_and_readable_without_us(tmp_path: Path) -> None:
    with Cluster.start() as cluster:
        api = cluster.api()
        for kind in SERVED:
            api.apply(_stored_as_old(kind))
        queue = old("ClusterQueue", "kept", spec={"cohort": "team"})
        until(lambda: api.answers(f"{OLD}/clusterqueues") and api.answers(f"{OLD}/topologies"), 60, "CRDs to be served")
        api.create(f"{OLD}/clusterqueues", queue)
        api.create(f"{OLD}/topologies", {**VALID["Topology"], "apiVersion": "kueue.x-k8s.io/v1beta1"})
        api.create(f"{OLD}{SPACE}/workloads", old("Workload", "kept", spec={"podSets": [POD_SET]}))
        ran = {"accumulatedPastExexcutionTimeSeconds": 7, "conditions": [condition("Finished")]}
        api.merge(f"{OLD}{SPACE}/workloads/kept/status", {"status": ran})

        first = lockgate(cluster, "install", f"--webhook-url={NOBODY}")
        assert first.returncode == 0, first.stderr
        assert "Topology: 1 objects are stored as v1beta2 now" in first.stdout
        assert "ClusterQueue: some may still be stored as v1beta1" in first.stdout
        with webhooks(cluster, tmp_path / "log") as server:
            for kind in SERVED:
                assert api.get(f"{CRDS}/{crd_name(kind)}")["status"]["storedVersions"] == ["v1beta2"]
            again = lockgate(cluster, "install", f"--webhook-url={server.url}")
            assert "stored" not in again.stdout
            assert lockgate(cluster, "uninstall").returncode == 0
            server.kill()
        until(lambda: not api.answers(f"{OLD}/clusterqueues"), 60, "v1beta1 not to be served any more")
        assert api.get(f"{NEW}/clusterqueues/kept")["spec"]["cohortName"] == "team"
        status = api.get(f"{NEW}{SPACE}/workloads/kept")["status"]
        assert status["accumulatedPastExecutionTimeSeconds"] == 7
        assert status["conditions"][0]["lastTransitionTime"] == SINCE
