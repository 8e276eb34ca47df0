"""Cases side by side on one cluster: each with names of its own, and shown in the words of its file."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from admission.configuration import read
from admission.model.kinds import Ref
from admission.world.scenario.case import read_case
from controller.cli.live.names import Names
from controller.cli.live.needs import lacking_live
from controller.cli.live.pace import Pace

FILES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.yaml"))

NAMES = Names("k2p9xx")
HEAD = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}


def on_the_cluster(text: str) -> dict[str, Any]:
    manifest = yaml.safe_load(text)
    return NAMES.to_cluster(manifest, manifest["kind"])


def test_a_queue_its_cohort_and_its_flavors_are_the_cases_own() -> None:
    assert on_the_cluster("""
        kind: ClusterQueue
        metadata: {name: a, labels: {cohort: x}}
        spec:
          cohortName: all
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: lab, team: lab}}
          resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: std, resources: [{name: cpu, nominalQuota: '2'}]}]
    """) == yaml.safe_load("""
        kind: ClusterQueue
        metadata: {name: a-k2p9xx, labels: {cohort: x}}
        spec:
          cohortName: all-k2p9xx
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: lab-k2p9xx, team: lab}}
          resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: std-k2p9xx, resources: [{name: cpu, nominalQuota: '2'}]}]
    """)


def test_what_stands_in_a_namespace_keeps_its_name() -> None:
    assert on_the_cluster("""
        kind: Job
        metadata:
          {name: j, namespace: lab, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high}}
        spec: {template: {spec: {priorityClassName: system-node-critical, containers: [{name: main}]}}}
    """) == yaml.safe_load("""
        kind: Job
        metadata:
          name: j
          namespace: lab-k2p9xx
          labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high-k2p9xx}
        spec: {template: {spec: {priorityClassName: system-node-critical, containers: [{name: main}]}}}
    """)


def test_an_admission_names_queue_and_flavors() -> None:
    status = {"admission": {"clusterQueue": "a", "podSetAssignments": [{"name": "main", "flavors": {"cpu": "std"}}]}}
    admission = NAMES.to_cluster({"status": status}, "Workload")["status"]["admission"]
    assert admission["clusterQueue"] == "a-k2p9xx"
    assert admission["podSetAssignments"] == [{"name": "main", "flavors": {"cpu": "std-k2p9xx"}}]


def test_json_patches_say_by_their_path_what_is_a_name() -> None:
    patch = [
        {"op": "replace", "path": "/spec/cohortName", "value": "all"},
        {"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/name", "value": "std"},
        {"op": "add", "path": "/metadata/labels/kueue.x-k8s.io~1priority-class", "value": "high"},
        {"op": "add", "path": "/metadata/labels/cohort", "value": "x"},
        {"op": "replace", "path": "/spec/queueName", "value": "q"},
        {"op": "remove", "path": "/spec/cohortName"},
    ]
    values = [operation.get("value") for operation in NAMES.to_cluster_patch(patch)]
    assert values == ["all-k2p9xx", "std-k2p9xx", "high-k2p9xx", "x", "q", None]


def test_what_comes_back_is_in_the_words_of_the_file() -> None:
    assert NAMES.to_file({"message": "ClusterQueue a-k2p9xx is full", "flavors": [{"cpu": "std-k2p9xx"}], "n": 1}) == {
        "message": "ClusterQueue a is full",
        "flavors": [{"cpu": "std"}],
        "n": 1,
    }
    assert NAMES.file_ref(NAMES.ref(Ref("Cohort", "", "all"))) == Ref("Cohort", "", "all")
    assert NAMES.mine(Ref("Job", "lab-k2p9xx", "j"))
    assert not NAMES.mine(Ref("Job", "lab", "j-k2p9xx"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_manifest_of_a_scenario_comes_back_as_it_was(file: Any) -> None:
    for manifest in read_case(file.read_text()).form.objects:
        assert NAMES.to_file(NAMES.to_cluster(manifest, manifest["kind"])) == manifest


class Watch:
    """A clock on the wall that only moves when told."""

    def __init__(self) -> None:
        self.now = 5000.0

    def __call__(self) -> float:
        return self.now


def test_time_stands_runs_and_leaps() -> None:
    wall = Watch()
    pace = Pace(100.0, wall)
    wall.now += 3
    assert pace.now == 100  # at rest soon, whatever that takes
    pace.stand(160)
    assert pace.now == 160  # nothing was due in between
    pace.run(160)
    wall.now += 4
    assert pace.now == 164
    pace.stand(165)
    assert [pace.of(5000 + passed) for passed in (0, 2, 3, 5, 7)] == [100, 100, 160, 162, 165]


def test_what_lies_ahead_is_as_far_ahead_in_both_times() -> None:
    wall = Watch()
    pace = Pace(100.0, wall)
    wall.now += 3
    assert pace.of(5003 + 60) == 160
    assert pace.to_real(160) == 5063
    stamps = pace.real_stamps({"conditions": [{"lastTransitionTime": "1970-01-01T00:01:40Z", "message": "1970"}]})
    assert stamps == {"conditions": [{"lastTransitionTime": "1970-01-01T01:23:23Z", "message": "1970"}]}
    assert pace.stamps_of(stamps)["conditions"][0]["lastTransitionTime"] == "1970-01-01T00:01:40Z"


def test_what_cannot_be_played_on_a_real_cluster_is_named() -> None:
    said = {file.stem[:3]: lacking_live(read_case(file.read_text()).form) for file in FILES}
    assert said["001"] == []
    assert said["044"][0] == "op forbid-reads: add --own-product"
    selector = "config: managedJobsNamespaceSelector: the running product has another (--config says which)"
    assert said["049"] == [selector]
    assert said["073"] == ["kai-queue: only played in memory"]


def test_cases_with_the_config_of_the_running_product_are_played() -> None:
    forms = {file.stem[:3]: read_case(file.read_text()).form for file in FILES}
    running = read({**HEAD, "managedJobsNamespaceSelector": {"matchLabels": {"queue": "yes"}}}).core
    assert lacking_live(forms["049"], running) == []
    assert "managedJobsNamespaceSelector" in lacking_live(forms["001"], running)[0]


def test_the_namespace_of_the_running_product_makes_no_case_another() -> None:
    forms = {file.stem[:3]: read_case(file.read_text()).form for file in FILES}
    assert lacking_live(forms["001"], read({**HEAD, "namespace": "elsewhere"}).core) == []
    assert lacking_live(forms["001"], read({**HEAD, "featureGates": {"PartialAdmission": False}}).core) == [
        "config: featureGates: the running product has another (--config says which)"
    ]
