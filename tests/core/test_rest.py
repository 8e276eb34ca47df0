"""Everything comes to rest once nothing happens from outside, with fair sharing and without: no workload is evicted for
one that is evicted for it, and so on without end."""

import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from admission.model.configuration import FINAL_SHARE, INITIAL_SHARE, Configuration, FairSharing
from admission.model.decisions import Admit, Preempt
from admission.model.gates import Gates
from admission.model.queues import ClusterQueue, Cohort, Namespace, Preemption, ResourceFlavor
from admission.model.selectors import EVERYTHING
from admission.model.workload import PodSet, Workload
from admission.rules.scheduler import Scheduler
from admission.rules.yielding import MOST, moment
from tests.core.lab import MUCH, Lab, group, preempted

QUEUES = {"q0": "left", "q1": "left", "q2": "deep", "q3": "deep", "q4": "right", "q5": "top"}
COHORTS = {"top": "", "left": "top", "right": "top", "deep": "left"}
WEIGHTS = (Fraction(1), Fraction(1), Fraction(1), Fraction(0), Fraction(3), Fraction(1, 2))
STRATEGIES = ((FINAL_SHARE,), (INITIAL_SHARE,), (FINAL_SHARE, INITIAL_SHARE), (FINAL_SHARE, INITIAL_SHARE))
RECLAIM = ("Any", "Any", "Any", "LowerPriority", "Never")
WITHIN = ("Never", "LowerPriority", "LowerPriority", "LowerOrNewerEqualPriority")
# Rounds of decisions and stopping pods that may follow one event; in 25 walks of 400 events it was 42 at most.
ROUNDS = 150


class Walk:
    """A small company, in which at each step something happens by chance. Amounts are cores and GPUs."""

    def __init__(self, seed: int, fair: bool) -> None:
        self.chance = random.Random(seed)
        gates = {"FairSharingPreemptWithinNominal": self.chance.random() < 0.8,
                 "FairSharingPrioritizeNonBorrowing": self.chance.random() < 0.8}  # fmt: skip
        sharing = FairSharing(self.chance.choice(STRATEGIES)) if fair else None
        self.scheduler = Scheduler(Configuration(fair_sharing=sharing, gates=Gates(gates)))
        self.scheduler.put_namespace(Namespace("lab"))
        self.flavors = self.chance.choice((("std",), ("std", "spot")))
        self.resources = self.chance.choice((("cpu",), ("cpu", "gpu")))
        for flavor in self.flavors:
            self.scheduler.put_flavor(ResourceFlavor(flavor))
        self.now, self.count = 0.0, 0
        self.homes: dict[str, str] = {}
        self.workloads: dict[str, Workload] = {}
        for name in COHORTS:
            self.edit_cohort(name)
        for name in QUEUES:
            self.edit_queue(name)

    # -- what happens

    def step(self) -> None:
        what = self.chance.random()
        if what < 0.55 and len(self.workloads) < 40:
            self.arrive()
        elif what < 0.92 and self.workloads:
            self.leave(self.chance.choice(sorted(self.workloads)))
        elif what < 0.98:
            self.edit_queue(self.chance.choice(sorted(QUEUES)))
        else:
            self.edit_cohort(self.chance.choice(sorted(COHORTS)))

    def arrive(self) -> None:
        self.count += 1
        asks = {one: self.chance.choice((1, 1, 2, 3, 5)) * (1000 if one == "cpu" else 1) for one in self.resources}
        name = f"w{self.count}"
        workload = Workload(
            "lab", name, f"uid-{name}", 1, self.now, "lq", (PodSet("main", 1, asks),),
            priority=self.chance.choice((0, 0, 1, 2)),
        )  # fmt: skip
        self.workloads[workload.key] = workload
        self.homes[workload.key] = self.chance.choice(sorted(QUEUES))
        self.scheduler.push(workload, self.homes[workload.key], self.now)

    def leave(self, key: str) -> None:
        workload = self.workloads.pop(key)
        self.scheduler.remove(workload.key)
        self.scheduler.release(workload.key, self.now)

    def edit_queue(self, name: str) -> None:
        chance = self.chance
        reclaim = chance.choice(RECLAIM)
        borrow = chance.choice(("Never", "LowerPriority")) if reclaim != "Never" else "Never"
        self.scheduler.put_cluster_queue(
            ClusterQueue(
                name,
                cohort=QUEUES[name],
                groups=(group(self.quotas(8)),),
                strict_fifo=chance.random() < 0.2,
                namespace_selector=EVERYTHING,
                preemption=Preemption(chance.choice(WITHIN), reclaim, borrow),
                weight=chance.choice(WEIGHTS),
            ),
            active=True,
        )

    def edit_cohort(self, name: str) -> None:
        groups = (group(self.quotas(6)),) if self.chance.random() < 0.4 else ()
        weight = self.chance.choice(WEIGHTS)
        self.scheduler.put_cohort(Cohort(name, parent=COHORTS[name], groups=groups, weight=weight))

    def quotas(self, most: int) -> Mapping[str, Mapping[str, str]]:
        def one() -> str:
            nominal = self.chance.randint(0, most)
            return f"{nominal}" + self.chance.choice(("", "", "", "+3", f"-{nominal // 2}", "+2-0"))

        return {flavor: {resource: one() for resource in self.resources} for flavor in self.flavors}

    # -- what follows

    def settle(self) -> int:
        """Rounds until nothing moves any more; victims' pods stop between two rounds, in any order."""
        for rounds in range(ROUNDS):
            self.now += 1
            moved = False
            victims = []
            for decision in self.scheduler.run(self.now, MUCH).decisions:
                moved |= isinstance(decision, Admit)
                if isinstance(decision, Preempt):
                    victims += [victim.workload for victim in decision.victims]
            self.chance.shuffle(victims)
            for key in victims:
                self.scheduler.release(key, self.now)
                self.scheduler.push(replace(self.workloads[key], admission=None), self.homes[key], self.now)
            if not moved and not victims:
                return rounds
        raise AssertionError("no rest")


def walk(seed: int, events: int, fair: bool) -> int:
    """The most rounds that followed an event."""
    wanderer, most = Walk(seed, fair), 0
    for _ in range(events):
        wanderer.step()
        most = max(most, wanderer.settle())
    return most


# Without the rules against it these never came to rest.
@pytest.mark.parametrize(("seed", "fair"), [(12, True), (16, True), (25, True), (29, False), (28, False)])
def test_after_each_event_of_a_short_walk_everything_comes_to_rest(seed: int, fair: bool) -> None:
    walk(seed, 130 if fair else 157, fair)


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("fair", [True, False], ids=["fair", "classical"])
@pytest.mark.parametrize("seed", range(25))
def test_after_each_of_ten_thousand_events_everything_comes_to_rest(seed: int, fair: bool) -> None:
    walk(seed, 10_000, fair)


@pytest.mark.parametrize("sharing", [None, FairSharing()], ids=["classical", "fair"])
def test_who_spared_its_victims_looks_again_once_something_happens_from_outside(sharing: FairSharing | None) -> None:
    """In a strict queue nobody else can: until the head is through, it blocks all others."""
    lab = Lab(Scheduler(Configuration(fair_sharing=sharing)))
    lab.queue("q", cpu="1", strict_fifo=True, preemption=Preemption("LowerPriority"))
    lab.runs("victim", "q", cpu="1")
    lab.submit("head", "q", priority=5, cpu="1")
    part_often_enough(lab, "victim", "head", "q")
    assert not preempted(lab.run()), "the same pair has parted often enough"
    lab.submit("newcomer", "q", cpu="1")
    assert preempted(lab.run()) == [("victim", "InClusterQueue")]


def test_under_fair_sharing_not_even_an_owner_sends_the_same_one_away_a_third_time() -> None:
    """Two borrowers of the owner's room took turns in it for ever, each let in when the other had left."""
    lab = Lab(Scheduler(Configuration(fair_sharing=FairSharing())))
    lab.queue("owner", cpu="1", cohort="co", strict_fifo=True, preemption=Preemption(reclaim_within_cohort="Any"))
    lab.queue("borrower", cpu="0", cohort="co")
    lab.runs("victim", "borrower", cpu="1")
    lab.submit("head", "owner", cpu="1")
    part_often_enough(lab, "victim", "head", "owner")
    assert not preempted(lab.run())
    lab.submit("newcomer", "borrower", cpu="1")
    assert preempted(lab.run()) == [("victim", "InCohortReclamation")]


def part_often_enough(lab: Lab, victim: str, head: str, queue: str) -> None:
    node = lab.scheduler.tree.queue(queue)
    assert node is not None
    for _ in range(MOST):
        lab.scheduler._estate.yielding.note(lab.key(victim), lab.key(head), moment(node))
