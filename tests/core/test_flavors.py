"""Which flavor a workload gets: fungibility, preference, borrowing levels, taints, selectors, resource groups."""

from typing import Any

import pytest

from admission.model.decisions import Hold
from admission.model.queues import ClusterQueue, Fungibility, Preemption, ResourceFlavor
from admission.model.workload import NodeRule, PodSet, Taint, Toleration
from admission.rules.asks import Ask
from admission.rules.grades import FIT, NO_CANDIDATES, NO_FIT, PREEMPT, RECLAIM, Grade, Judge
from admission.rules.matching import mismatch
from admission.rules.menu import Menu
from admission.tree import Tree
from tests.core.lab import LOWER, Lab, admitted, group


@pytest.fixture
def lab() -> Lab:
    return Lab()


def judge(fungibility: Fungibility) -> Judge:
    tree = Tree()
    tree.put_queue("q", "", {})
    node = tree.queue("q")
    assert node is not None
    return Judge(Menu(ClusterQueue("q", fungibility=fungibility)), node, None)


# (borrow, preempt) policies -> grades after which the search goes on
STOP, NEXT = "MayStopSearch", "TryNextFlavor"
ALWAYS = {(NO_FIT, 0), (NO_CANDIDATES, 0), (NO_CANDIDATES, 1)}
PREEMPTING = {(PREEMPT, 0), (RECLAIM, 0), (PREEMPT, 1), (RECLAIM, 1)}
BORROWING = {(FIT, 1), (PREEMPT, 1), (RECLAIM, 1)}


@pytest.mark.parametrize(
    ("borrow", "preempt", "goes_on"),
    [
        (STOP, STOP, ALWAYS),
        (STOP, NEXT, ALWAYS | PREEMPTING),
        (NEXT, STOP, ALWAYS | BORROWING),
        (NEXT, NEXT, ALWAYS | PREEMPTING | BORROWING),
    ],
)
def test_when_the_search_goes_on(borrow: str, preempt: str, goes_on: set[tuple[int, int]]) -> None:
    asked = judge(Fungibility(borrow, preempt))
    grades = [(mode, height) for mode in (NO_FIT, NO_CANDIDATES, PREEMPT, RECLAIM, FIT) for height in (0, 1)]
    grades.remove((NO_FIT, 1))
    assert {grade for grade in grades if asked.try_next(Grade(*grade))} == goes_on


@pytest.mark.parametrize(
    ("preference", "best_first"),
    [
        (
            "BorrowingOverPreemption",
            [(FIT, 0), (FIT, 1), (FIT, 2), (RECLAIM, 0), (RECLAIM, 1), (PREEMPT, 0), (PREEMPT, 2)],
        ),
        (
            "PreemptionOverBorrowing",
            [(FIT, 0), (RECLAIM, 0), (PREEMPT, 0), (FIT, 1), (RECLAIM, 1), (FIT, 2), (PREEMPT, 2)],
        ),
    ],
)
def test_which_flavor_is_preferred(preference: str, best_first: list[tuple[int, int]]) -> None:
    asked = judge(Fungibility(NEXT, NEXT, preference))
    ladder = [*best_first, (NO_CANDIDATES, 0), (NO_CANDIDATES, 1), (NO_FIT, 0)]
    assert sorted(ladder, key=lambda grade: asked.score(Grade(*grade)), reverse=True) == ladder
    assert len({asked.score(Grade(*grade)) for grade in ladder}) == len(ladder)


def choice(lab: Lab, fungibility: Fungibility, **rest: Any) -> str:
    """`own` is full of low-priority work; `near` can be borrowed from the parent, `far` only from the root."""
    lab.cohort("root", "", {"own": {"cpu": "0"}, "near": {"cpu": "0"}, "far": {"cpu": "4"}})
    lab.cohort("team", "root", {"own": {"cpu": "0"}, "near": {"cpu": "4"}, "far": {"cpu": "0"}})
    order = rest.pop("order", ("own", "far", "near"))
    limit = {"own": "4+0", "near": "0", "far": "0"}
    lab.queue(
        "q", {name: {"cpu": limit[name]} for name in order}, cohort="team", fungibility=fungibility, preemption=LOWER
    )
    lab.runs("low", "q", flavor="own", cpu="4")
    lab.submit("probe", "q", priority=1, cpu="4")
    lab.run()
    return lab.flavor_of("probe")["cpu"] if "probe" in lab.holding() else "preempts"


@pytest.mark.parametrize(
    ("fungibility", "order", "expected"),
    [
        (Fungibility(STOP, NEXT), ("own", "far", "near"), "far"),
        (Fungibility(NEXT, NEXT), ("own", "far", "near"), "near"),
        (Fungibility(NEXT, NEXT), ("own", "near", "far"), "near"),
        (Fungibility(NEXT, NEXT, "PreemptionOverBorrowing"), ("far", "near", "own"), "preempts"),
        (Fungibility(NEXT, NEXT, "BorrowingOverPreemption"), ("far", "near", "own"), "near"),
        (Fungibility(STOP, STOP), ("own", "far", "near"), "preempts"),
        (Fungibility(STOP, STOP), ("near", "own", "far"), "near"),
        (Fungibility(NEXT, STOP), ("own", "far", "near"), "preempts"),
        # the search stops at `own`, and where it stops counts, even if something better came before
        (Fungibility(NEXT, STOP), ("far", "own", "near"), "preempts"),
    ],
)
def test_policies_together(lab: Lab, fungibility: Fungibility, order: tuple[str, ...], expected: str) -> None:
    assert choice(lab, fungibility, order=order) == expected


def test_a_flavor_without_candidates_loses_to_any_that_works(lab: Lab) -> None:
    lab.queue(
        "q",
        {"first": {"cpu": "4"}, "second": {"cpu": "0+4"}},
        cohort="co",
        preemption=LOWER,
        fungibility=Fungibility(NEXT, NEXT, "PreemptionOverBorrowing"),
    )
    lab.queue("lender", {"first": {"cpu": "0"}, "second": {"cpu": "4"}}, cohort="co")
    lab.runs("important", "q", priority=9, flavor="first", cpu="4")
    lab.submit("probe", "q", cpu="4")
    lab.run()
    assert lab.flavor_of("probe") == {"cpu": "second"}


def test_all_resources_of_a_group_share_a_flavor_and_groups_choose_apart(lab: Lab) -> None:
    lab.queue(
        "q",
        {"small": {"cpu": "4", "memory": "1"}, "large": {"cpu": "4", "memory": "9"}},
        {"k80": {"acme.io/gpu": "1"}, "a100": {"acme.io/gpu": "4"}},
    )
    lab.submit("w", "q", cpu="1", memory="5", gpu="1")
    lab.run()
    assert lab.flavor_of("w") == {"cpu": "large", "memory": "large", "acme.io/gpu": "k80"}


def test_later_pod_sets_see_what_earlier_ones_take(lab: Lab) -> None:
    lab.queue("q", {"one": {"cpu": "4"}, "two": {"cpu": "4"}})
    lab.submit_pods("w", "q", PodSet("driver", 1, {"cpu": 3000}), PodSet("worker", 2, {"cpu": 1000}))
    lab.run()
    assert lab.scheduler.usage("q") == {("one", "cpu"): 3000, ("two", "cpu"): 2000}


def test_pods_are_counted_where_quota_covers_them(lab: Lab) -> None:
    lab.queue("q", {"std": {"cpu": "9", "pods": "5"}})
    lab.submit_pods("fits", "q", PodSet("main", 5, {"cpu": 1000}))
    lab.submit_pods("too-many", "q", PodSet("main", 6, {"cpu": 1}))
    lab.run()
    assert lab.scheduler.usage("q") == {("std", "cpu"): 5000, ("std", "pods"): 5}
    assert "insufficient quota for pods in flavor std" in lab.why("too-many")[1]


def test_a_workload_that_asks_for_nothing_fits(lab: Lab) -> None:
    lab.queue("q", cpu="0")
    lab.submit_pods("idle", "q", PodSet("main", 3, {}))
    assert admitted(lab.run()) == ["idle"]


def test_amounts_beyond_int64_fit_nowhere(lab: Lab) -> None:
    lab.queue("q", cpu="9E")
    lab.submit("huge", "q", cpu="99999E")
    lab.run()
    assert lab.why("huge")[0] == "ExceedsMaxQuota"


def test_a_flavor_nobody_declared_cannot_be_used(lab: Lab) -> None:
    lab.queue("q", {"one": {"cpu": "4"}, "two": {"cpu": "4"}})
    lab.scheduler.drop_flavor("one")
    lab.submit("w", "q", cpu="1")
    lab.run()
    assert lab.flavor_of("w") == {"cpu": "two"}


def test_a_changed_flavor_wakes_the_queues_that_list_it(lab: Lab) -> None:
    lab.flavor("std", taints=(Taint("spot", "yes", "NoSchedule"),))
    lab.queue("q", cpu="4")
    lab.submit("w", "q", cpu="1")
    lab.run()
    assert lab.why("w") == (
        "NoMatchingFlavor",
        "couldn't assign flavors to pod set main: untolerated taint {spot yes NoSchedule <nil>} in flavor std",
    )
    lab.flavor("std", taints=(Taint("spot", "yes", "NoSchedule"),), tolerations=(Toleration("spot", "Exists", "", ""),))
    assert admitted(lab.run()) == ["w"]


@pytest.mark.parametrize(
    ("flavor", "pods", "matches"),
    [
        ({}, {}, True),
        ({"taints": (Taint("a", "b", "PreferNoSchedule"),)}, {}, True),
        ({"taints": (Taint("a", "b", "NoExecute"),)}, {}, False),
        (
            {"taints": (Taint("a", "b", "NoExecute"),)},
            {"tolerations": (Toleration("a", "Equal", "b", "NoExecute"),)},
            True,
        ),
        (
            {"taints": (Taint("a", "b", "NoExecute"),)},
            {"tolerations": (Toleration("a", "Equal", "c", "NoExecute"),)},
            False,
        ),
        ({"node_labels": {"zone": "a"}}, {"node_selector": (("zone", "a"), ("disk", "ssd"))}, True),
        ({"node_labels": {"zone": "a"}}, {"node_selector": (("zone", "b"),)}, False),
        ({"node_labels": {"zone": "a"}}, {"affinity": ((NodeRule("zone", "In", ("a", "b")),),)}, True),
        ({"node_labels": {"zone": "a"}}, {"affinity": ((NodeRule("zone", "NotIn", ("a",)),),)}, False),
        ({"node_labels": {"zone": "a"}}, {"affinity": ((NodeRule("zone", "DoesNotExist", ()),),)}, False),
        ({"node_labels": {"gen": "7"}}, {"affinity": ((NodeRule("gen", "Gt", ("6",)),),)}, True),
        ({"node_labels": {"gen": "7"}}, {"affinity": ((NodeRule("gen", "Lt", ("7",)),),)}, False),
        ({"node_labels": {"gen": "new"}}, {"affinity": ((NodeRule("gen", "Gt", ("6",)),),)}, False),
        # terms are alternatives; rules of a term must all hold
        (
            {"node_labels": {"zone": "a"}},
            {"affinity": ((NodeRule("zone", "In", ("b",)),), (NodeRule("zone", "In", ("a",)),))},
            True,
        ),
        (
            {"node_labels": {"zone": "a"}},
            {"affinity": ((NodeRule("zone", "In", ("a",)), NodeRule("zone", "NotIn", ("a",))),)},
            False,
        ),
        # a term that says nothing about the flavor's keys lets any of its nodes in
        (
            {"node_labels": {"zone": "a"}},
            {"affinity": ((NodeRule("zone", "In", ("b",)),), (NodeRule("disk", "Exists", ()),))},
            True,
        ),
        (
            {"node_labels": {"zone": "a"}},
            {"affinity": ((NodeRule("zone", "In", ("b",)), NodeRule("disk", "Exists", ())),)},
            False,
        ),
    ],
)
def test_matching(flavor: dict[str, Any], pods: dict[str, Any], matches: bool) -> None:
    ask = Ask("main", 1, (), pods.get("node_selector", ()), pods.get("affinity", ()), pods.get("tolerations", ()), 1)
    assert (mismatch("f", ResourceFlavor("f", **flavor), ask) == "") is matches


def test_messages_name_flavor_resource_and_numbers(lab: Lab) -> None:
    lab.flavor("tainted", taints=(Taint("a", "b", "NoSchedule"),))
    lab.queue(
        "q",
        {"tainted": {"cpu": "1", "memory": "1"}, "small": {"cpu": "4", "memory": "4Gi"}},
        preemption=Preemption(),
    )
    lab.runs("holder", "q", flavor="small", cpu="3", memory="1Gi")
    lab.submit_pods(
        "w", "q", PodSet("driver", 1, {"cpu": 500}), PodSet("worker", 2, {"cpu": 1000, "memory": 3 * 2**30})
    )
    lab.run()
    assert lab.why("w") == (
        "ExceedsMaxQuota",
        (
            "couldn't assign flavors to pod set worker: insufficient quota for memory in flavor small, previously "
            "considered podsets requests (0) + current podset request (6Gi) > maximum capacity (4Gi), insufficient "
            "unused quota for cpu in flavor small, 1500m more needed, "
            "untolerated taint {a b NoSchedule <nil>} in flavor tainted"
        ),
    )


def test_inspecting_lists_every_flavor_and_changes_nothing(lab: Lab) -> None:
    lab.flavor("tainted", taints=(Taint("a", "b", "NoSchedule"),))
    lab.queue("q", {"tainted": {"cpu": "9"}, "small": {"cpu": "4"}, "tiny": {"cpu": "1"}})
    lab.runs("holder", "q", flavor="small", cpu="3")
    lab.submit("w", "q", cpu="2")
    before = lab.scheduler.tree.version(lab.scheduler.tree.queue("q"))  # type: ignore[arg-type]
    hold = lab.scheduler.inspect(lab.key("w"), lab.now)
    assert isinstance(hold, Hold)
    assert [(s.flavor, s.verdict, s.asked, s.available, s.potential) for s in hold.shortages] == [
        ("tainted", "NoMatchingFlavor", 2000, 0, 0),
        ("small", "noCandidates", 2000, 1000, 4000),
        ("tiny", "ExceedsMaxQuota", 2000, 1000, 1000),
    ]
    assert lab.scheduler.tree.version(lab.scheduler.tree.queue("q")) == before  # type: ignore[arg-type]
    assert lab.scheduler.last(lab.key("w")) is None
    assert lab.parked() == []


def test_group_builds_what_it_says() -> None:
    assert group({"std": {"cpu": "4+2-1"}}).flavors[0].quotas["cpu"] == (4000, 2000, 1000)


def test_pod_sets_that_send_each_other_round_come_to_rest(lab: Lab) -> None:
    """Each stops at the free flavor in turn; the other then finds only the one that is taken."""
    lab.queue("q", {"free": {"cpu": "5"}, "taken": {"cpu": "5"}}, preemption=LOWER)
    lab.runs("important", "q", priority=9, flavor="taken", cpu="5")
    lab.submit_pods("pair", "q", PodSet("main", 1, {"cpu": 5000}), PodSet("more", 1, {"cpu": 4000}))
    assert not lab.run().more
    assert lab.holding() == ["important"]
    lab.finish("important")
    assert admitted(lab.run()) == ["pair"]
