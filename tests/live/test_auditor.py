"""The auditor of the quota law is himself audited: told made-up stories, he finds exactly what is wrong with them."""

import json
from typing import Any

import pytest

from hack.cluster.etcd import Event
from tests.live.auditor import KUEUE, Auditor, thousandths


class Story:
    """A stream of etcd about a few queues and Workloads, told write by write."""

    def __init__(self) -> None:
        self.auditor = Auditor()
        self._revision = 0

    def write(self, key: str, manifest: dict[str, Any] | None) -> "Story":
        self._revision += 1
        value = b"" if manifest is None else json.dumps(manifest).encode()
        self.auditor.read(Event(self._revision, KUEUE + key, value, created=False, deleted=manifest is None))
        return self

    def cohort(self, name: str, nominal: int, parent: str = "", **limits: int) -> "Story":
        return self.write(f"cohorts/{name}", {"spec": {"parentName": parent, **_quota(nominal, limits)}})

    def queue(self, name: str, nominal: int, cohort: str = "", **limits: int) -> "Story":
        return self.write(f"clusterqueues/{name}", {"spec": {"cohortName": cohort, **_quota(nominal, limits)}})

    def workload(self, name: str, *true: str, queue: str = "", cpu: int = 0, uid: str = "") -> "Story":
        """Its conditions that are True, and what it holds."""
        status: dict[str, Any] = {"conditions": [{"type": one, "status": "True"} for one in true]}
        if queue:
            pod_set = {"name": "main", "flavors": {"cpu": "std"}, "resourceUsage": {"cpu": str(cpu)}}
            status["admission"] = {"clusterQueue": queue, "podSetAssignments": [pod_set]}
        return self.write(f"workloads/lab/{name}", {"metadata": {"uid": uid or name}, "status": status})

    def admit(self, name: str, queue: str, cpu: int, *also: str) -> "Story":
        return self.workload(name, "QuotaReserved", "Admitted", *also, queue=queue, cpu=cpu)

    def end(self) -> list[str]:
        self.auditor.close()
        return self.auditor.findings


def _quota(nominal: int, limits: dict[str, int]) -> dict[str, Any]:
    resource = {"name": "cpu", "nominalQuota": str(nominal), **{f"{key}Limit": str(v) for key, v in limits.items()}}
    return {"resourceGroups": [{"flavors": [{"name": "std", "resources": [resource]}]}]}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    story = Story().cohort("all", 1).queue("a", 2, "all").queue("b", 2, "all")
    story.admit("x", "a", 3).admit("y", "b", 2).admit("x", "a", 3, "Evicted").workload("x", "Evicted")
    story.admit("x", "a", 1).admit("x", "a", 1, "Finished").admit("y", "b", 2, "Finished")
    assert story.end() == []
    assert (story.auditor.admissions, story.auditor.evictions, story.auditor.releases) == (3, 1, 1)
    assert (story.auditor.finished, story.auditor.revisions) == (2, 10)


def test_what_is_finished_holds_nothing() -> None:
    story = Story().queue("a", 2).admit("x", "a", 2).admit("x", "a", 2, "Finished").admit("y", "a", 2)
    assert story.admit("y", "a", 2, "Finished").end() == []


@pytest.mark.parametrize(
    ("tree", "holds", "limit"),
    [
        (Story().queue("a", 2), 3, "queue a holds 3, its limit is 2"),
        (
            Story().cohort("all", 9).queue("a", 2, "all", borrowing=1),
            4,
            "queue a holds 4, its limit is 3",
        ),
        (
            Story().queue("b", 5, "all", lending=2).queue("a", 2, "all"),
            5,
            "cohort all holds 5, its limit is 4",
        ),
        (
            Story().cohort("all", 9).cohort("some", 1, "all", borrowing=2).queue("a", 2, "some"),
            6,
            "cohort some holds 6, its limit is 5",
        ),
    ],
    ids=["nominal", "borrowing", "lending", "cohort"],
)
def test_an_overshoot_is_found_at_every_level(tree: Story, holds: int, limit: str) -> None:
    tree.admit("x", "a", holds - 1)
    assert tree.auditor.findings == []
    tree.admit("y", "a", 1)
    found = [finding.partition("overshoots: ")[2] for finding in tree.auditor.findings]
    assert [finding.replace(" of cpu in std", "") for finding in found] == [limit]


def test_a_second_admission_without_a_release_is_found() -> None:
    story = Story().queue("a", 9).queue("b", 9).admit("x", "a", 1).admit("x", "b", 1).admit("x", "b", 1, "Finished")
    assert story.end() == ["revision 4: lab/x was admitted twice: its first reservation was never released"]


def test_a_lost_eviction_is_found() -> None:
    story = Story().queue("a", 9).admit("x", "a", 1, "Evicted").admit("x", "a", 1).admit("x", "a", 1, "Finished")
    assert story.end() == ["revision 3: lab/x: its eviction was lost, it holds what it was to give back"]


def test_a_reservation_goes_only_by_eviction() -> None:
    story = Story().queue("a", 9).admit("x", "a", 1).workload("x").admit("x", "a", 1).admit("x", "a", 1, "Finished")
    assert story.end() == ["revision 3: lab/x lost its reservation although nobody evicted it"]


def test_an_admission_that_comes_into_being_evicted_counts_as_both() -> None:
    story = Story().queue("a", 9).admit("x", "a", 1, "Evicted").workload("x", "Evicted").admit("x", "a", 1, "Evicted")
    assert (story.auditor.admissions, story.auditor.evictions, story.auditor.stillborn) == (2, 2, 2)


def test_an_eviction_that_nobody_carries_out_is_found() -> None:
    assert Story().queue("a", 9).admit("x", "a", 1, "Evicted").end() == [
        "at the end: lab/x never finished",
        "at the end: lab/x was evicted and never let go",
    ]


def test_a_workload_that_waits_for_ever_is_found() -> None:
    assert Story().queue("a", 9).workload("x").end() == ["at the end: lab/x never finished"]


def test_a_finished_workload_is_not_touched_again() -> None:
    story = Story().queue("a", 9).admit("x", "a", 1, "Finished").workload("x", "Finished")
    assert story.end()[-1] == "revision 3: lab/x had finished, and was changed again"


def test_being_admitted_takes_a_reservation() -> None:
    story = Story().queue("a", 9).workload("x", "Admitted")
    assert "revision 2: lab/x is admitted without a reservation" in story.auditor.findings


def test_quotas_that_change_are_more_than_this_audit_can_judge() -> None:
    story = Story().queue("a", 9).admit("x", "a", 1).queue("a", 8)
    assert "the quotas of a changed" in story.auditor.findings[0]


@pytest.mark.parametrize(("text", "units"), [("500m", 500), ("2", 2000), ("1.5", 1500), ("1Ki", 1024000)])
def test_quantities(text: str, units: int) -> None:
    assert thousandths(text) == units
