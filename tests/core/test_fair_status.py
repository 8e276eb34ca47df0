"""`status.fairSharing.weightedShare` of ClusterQueues and Cohorts, as the API server ends up with it."""

from typing import Any

import pytest

from admission.model.amounts import MAX_INT64
from admission.model.configuration import DEFAULTS, Configuration, FairSharing
from admission.model.kinds import Ref
from admission.reconcile.queues import cluster_queue_status
from admission.world.world import World
from tests.core.clusters import API, workload

FAIR = Configuration(fair_sharing=FairSharing())


class Company:
    """Cohort `all` with quota of its own; below it cohort `team` with queue `a`, and queue `b`."""

    def __init__(self, configuration: Configuration, weight: str = "1") -> None:
        self.world = World(configuration)
        self.make({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        self.make({"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "std"}})
        self.make(_tree("Cohort", "all", groups=_groups("8")))
        self.make(_tree("Cohort", "team", groups=_groups("2"), parentName="all"))
        for name, cohort in (("a", "team"), ("b", "all")):
            more = {"namespaceSelector": {}, "fairSharing": {"weight": weight}}
            self.make(_tree("ClusterQueue", name, groups=_groups("0"), cohortName=cohort, **more))
            meta = {"name": name, "namespace": "lab"}
            self.make({"apiVersion": API, "kind": "LocalQueue", "metadata": meta, "spec": {"clusterQueue": name}})

    def make(self, manifest: dict[str, Any]) -> None:
        answer = self.world.api.create(manifest)
        assert answer.code == 201, answer.body

    def run(self, queue: str, cpu: int) -> Ref:
        name = f"w-{queue}-{cpu}"
        self.make(workload(name, queue, cpu, 0))
        self.rest()
        return Ref("Workload", "lab", name)

    def rest(self) -> None:
        self.world.settle()
        self.world.advance(self.world.now + 5)

    def share(self, kind: str, name: str) -> Any:
        body = self.world.api.get(Ref(kind, "", name)).body or {}
        return body.get("status", {}).get("fairSharing", {}).get("weightedShare")


def test_a_queue_and_the_cohorts_above_it_say_how_much_they_borrow() -> None:
    company = Company(FAIR)
    company.run("a", 3)
    # Of ten cores a borrows three from its cohort, and that one of them from the cohort above.
    assert company.share("ClusterQueue", "a") == 300
    assert company.share("Cohort", "team") == 100
    assert company.share("Cohort", "all") == 0
    assert company.share("ClusterQueue", "b") == 0


def test_a_share_follows_usage_down_again() -> None:
    company = Company(FAIR)
    company.world.finish(company.run("a", 3))
    company.rest()
    assert company.share("ClusterQueue", "a") == company.share("Cohort", "team") == 0


def test_a_share_follows_quotas_elsewhere_in_the_tree() -> None:
    company = Company(FAIR)
    company.run("a", 3)
    company.world.api.patch(Ref("ClusterQueue", "", "b"), {"spec": {"resourceGroups": _groups("20")}})
    company.rest()
    assert company.share("ClusterQueue", "a") == 100


def test_shares_are_rounded_up_and_divided_by_the_weight() -> None:
    company = Company(FAIR, weight="7")
    company.run("a", 3)
    assert company.share("ClusterQueue", "a") == 43  # 42.86


def test_a_borrower_of_weight_zero_has_the_largest_share_that_there_is() -> None:
    company = Company(FAIR, weight="0")
    company.run("a", 3)
    assert company.share("ClusterQueue", "a") == MAX_INT64
    assert company.share("ClusterQueue", "b") == 0


def test_without_fair_sharing_no_share_is_told_and_one_left_from_before_is_taken_away() -> None:
    company = Company(DEFAULTS)
    company.run("a", 3)
    assert company.share("ClusterQueue", "a") is None
    old = {"status": {"fairSharing": {"weightedShare": 5}}}
    for ref in (Ref("ClusterQueue", "", "a"), Ref("Cohort", "", "team")):
        assert company.world.api.patch(ref, old, subresource="status").code == 200
        company.rest()
        assert company.share(ref.kind, ref.name) is None


def test_a_cohort_status_is_written_at_most_once_a_second_and_never_without_a_change() -> None:
    company = Company(FAIR)
    for cpu in (1, 2, 3):
        company.run("b", cpu)
    writes = [write.at for write in company.world.writes if write.ref == Ref("Cohort", "", "team")]
    assert len(writes) == 1  # at the start; b is not below it
    company.world.pause(True)
    for number in range(3):
        company.make(workload(f"n{number}", "a", 1, 0))
    company.world.pause(False)
    company.rest()
    later = [write.at for write in company.world.writes if write.ref == Ref("Cohort", "", "team")][1:]
    assert len(later) == 1


def test_our_own_word_about_a_cohort_moves_no_other_status(monkeypatch: pytest.MonkeyPatch) -> None:
    company = Company(FAIR)
    company.run("a", 3)
    looked: list[str] = []

    def told(view: Any, queue: Any, *more: Any) -> Any:
        looked.append(queue.name)
        return cluster_queue_status(view, queue, *more)

    monkeypatch.setattr("admission.state.queues.cluster_queue_status", told)
    word = {"status": {"fairSharing": {"weightedShare": 77}}}
    assert company.world.api.patch(Ref("Cohort", "", "team"), word, subresource="status").code == 200
    company.rest()
    assert company.share("Cohort", "team") == 100, "it is put right"
    assert looked == [], "with a thousand queues each such word would cost a thousand looks"


def _tree(kind: str, name: str, groups: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": {"resourceGroups": groups, **spec}}


def _groups(cpu: str) -> list[dict[str, Any]]:
    flavor = {"name": "std", "resources": [{"name": "cpu", "nominalQuota": cpu}]}
    return [{"coveredResources": ["cpu"], "flavors": [flavor]}]
