"""What machines and people read made for Kueue: after the same story both serve the same metrics and tell the same
Events.
"""

import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from admission.published import FAMILIES
from admission.published.families import BUILD_INFO
from hack.cluster import Cluster
from hack.cluster.ports import Port
from hack.cluster.wait import until
from hack.kueue import Kueue, module
from tests.live.controllers import (
    JOBS,
    PATIENCE,
    Seen,
    cluster_queue,
    controller,
    flavor,
    install_crds,
    job,
    local_queue,
    priority,
)

pytestmark = pytest.mark.timeout(3600)  # the first run on a machine builds Kubernetes and Kueue

RESOURCES = {"metrics": {"enableClusterQueueResources": True}}
# Counted from here on, so that they have series in both: the story brings each about.
EXPECTED = {
    "kueue_admitted_workloads_total",
    "kueue_preempted_workloads_total",
    "kueue_evicted_workloads_once_total",
    "kueue_finished_workloads_total",
    "kueue_local_queue_admission_wait_time_seconds",
    "kueue_workload_eviction_latency_seconds",
    "kueue_cluster_queue_nominal_quota",
    "kueue_cohort_subtree_quota",
}
# Why something waits is told when it has waited for a few seconds.
MAY_COME_LATER = {("Workload", "Warning", "Pending")}
DECLARATION = re.compile(r"prometheus\.New(Counter|Gauge|Histogram)Vec\((.*?)(\[\]string\{.*?\})", re.DOTALL)
# Of Kueue's next version.
NEWER = {
    "kueue_execution_time_seconds",
    "kueue_local_queue_execution_time_seconds",
    "kueue_pending_scheduling_hashes",
    "kueue_preemption_target_recomputations_total",
}


@dataclass
class Served:
    """Of one page: type and label names of every kueue_ family, and the counters' values."""

    types: dict[str, str] = field(default_factory=dict)
    labels: dict[str, set[str]] = field(default_factory=dict)
    counted: dict[tuple[str, tuple[tuple[str, str], ...]], float] = field(default_factory=dict)
    events: set[tuple[str, str, str]] = field(default_factory=set)  # kind of object, type, reason


def read(text: str) -> Served:
    served = Served()
    for family in text_string_to_metric_families(text):
        if not family.name.startswith("kueue_"):
            continue
        name = f"{family.name}_total" if family.type == "counter" else family.name
        served.types[name] = family.type
        for sample in family.samples:
            served.labels.setdefault(name, set()).update(set(sample.labels) - {"le"})
            if family.type == "counter" and sample.name == name:
                served.counted[(name, tuple(sorted(sample.labels.items())))] = sample.value
    return served


def story(cluster: Cluster) -> None:
    """One job finishes, one has to make room for another, and one waits."""
    seen = Seen(cluster)
    api = seen.api
    api.apply(flavor())
    api.apply(priority("urgent", 100))
    cohort = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "all"}, "spec": {}}
    api.apply(cohort)
    api.apply(cluster_queue("q", "4", cohortName="all", preemption={"withinClusterQueue": "LowerPriority"}))
    api.apply(local_queue("q"))
    api.create(JOBS, job("brief", "q", "1", runtime="1s"))
    seen.is_soon("brief", "finished")
    api.create(JOBS, job("patient", "q", "4"))
    seen.is_soon("patient", "running")
    api.create(JOBS, job("hasty", "q", "4", priority="urgent"))
    seen.is_soon("hasty", "running")
    until(lambda: seen.queue("q").get("pendingWorkloads") == 1, PATIENCE, "one waits")
    until(lambda: seen.condition("brief", "Finished")[0] == "True", PATIENCE, "one has finished")


@pytest.fixture(scope="module")
def kueue() -> Iterator[Served]:
    with Cluster.start(nodes=2) as cluster, Kueue.start(cluster, configuration=RESOURCES) as peer:
        story(cluster)
        yield with_events(cluster, settled(lambda: read(peer.metrics())))


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("controller")
    settings = folder / "configuration.yaml"
    settings.write_text(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmetrics: {enableClusterQueueResources: true}\n"
    )
    port = Port()
    with Cluster.start(nodes=2) as cluster:
        cluster.api().apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}})
        install_crds(cluster)
        port.release()
        flags = (f"--config={settings}", f"--metrics-bind=http://{port.address}", "--no-leader-elect")
        with controller(cluster, folder / "log", *flags) as running:
            running.is_soon("leading")
            story(cluster)

            def page() -> Served:
                with urllib.request.urlopen(f"http://{port.address}/metrics", timeout=10) as answer:
                    return read(answer.read().decode())

            yield with_events(cluster, settled(page))


def settled(look: object) -> Served:
    """The page once all that the story brings about is on it."""
    assert callable(look)
    found: list[Served] = []

    def complete() -> bool:
        found[:] = [look()]
        return found[0].labels.keys() >= EXPECTED

    until(complete, PATIENCE, "all of the story on the page of metrics")
    return found[0]


def with_events(cluster: Cluster, served: Served) -> Served:
    """What people are told of Jobs and Workloads, other than by Kubernetes itself."""
    for event in cluster.api().get("/api/v1/namespaces/default/events?limit=500")["items"]:
        source = event.get("reportingComponent") or event.get("source", {}).get("component", "")
        kind = event["involvedObject"]["kind"]
        if kind in ("Job", "Workload") and source != "job-controller":
            served.events.add((kind, event["type"], event["reason"]))
    return served


def declared() -> dict[str, tuple[str, set[str]]]:
    """Every family that Kueue's source declares, with type and labels: a page leaves out those without series."""
    source = (module.sources() / "pkg" / "metrics" / "metrics.go").read_text()
    found = {}
    for kind, body, labels in DECLARATION.findall(source):
        subsystem = re.search(r"Subsystem:\s*(.+),", body)
        name = re.search(r'Name:\s*"(\w+)"', body)
        assert subsystem is not None, body
        assert name is not None, body
        prefix = {"constants.KueueName": "kueue", "constants.MultiKueueName": "multikueue"}[subsystem[1]]
        found[f"{prefix}_{name[1]}"] = (kind.lower(), set(re.findall(r'"(\w+)"', labels)))
    return found


def test_every_family_is_declared_alike() -> None:
    ours = {
        family.full_name: (family.type, {*family.labels, *(("replica_role",) if family is not BUILD_INFO else ())})
        for family in FAMILIES
        if family.full_name not in NEWER
    }
    assert len(ours) > 50
    assert ours == declared()


def test_families_on_the_pages_have_the_same_types(kueue: Served, ours: Served) -> None:
    assert {name: ours.types.get(name) for name in kueue.types} == kueue.types


def test_those_that_have_something_to_say_are_the_same(kueue: Served, ours: Served) -> None:
    assert ours.labels.keys() - NEWER == kueue.labels.keys()


def test_labels_have_the_same_names(kueue: Served, ours: Served) -> None:
    both = kueue.labels.keys() & ours.labels.keys()
    assert {name: ours.labels[name] for name in both} == {name: kueue.labels[name] for name in both}


def test_what_happened_is_counted_alike(kueue: Served, ours: Served) -> None:
    attempts = "kueue_admission_attempts_total"  # how many cycles it takes is each one's own affair

    def counted(served: Served) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        return {key: value for key, value in served.counted.items() if key[0] != attempts}

    assert counted(ours) == counted(kueue)


def test_people_are_told_the_same_events(kueue: Served, ours: Served) -> None:
    untold, more = kueue.events - ours.events - MAY_COME_LATER, ours.events - kueue.events
    assert untold == set()
    assert more == set()
