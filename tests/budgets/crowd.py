"""A crowd of the size the budgets speak of: cohorts of three levels, full queues, and nobody asking for the same."""

from admission.model.configuration import DEFAULTS, Configuration
from admission.model.queues import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    Namespace,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
)
from admission.model.selectors import EVERYTHING
from admission.model.workload import Admission, Condition, PodSet, PodSetAssignment, Workload
from admission.rules.scheduler import Scheduler

GI = 2**30
QUEUES_PER_TEAM, TEAMS_PER_DIVISION = 10, 10
OWN = {"cpu": 16_000, "memory": 64 * GI}  # of each queue in each flavor
FLAVORS = ("reserved", "spot")


def build(
    queues: int,
    *,
    preemption: Preemption = Preemption(),  # noqa: B008
    strict: bool = False,
    configuration: Configuration = DEFAULTS,
) -> Scheduler:
    """So many empty queues, ten to a cohort, ten cohorts to a division, all divisions under one root."""
    scheduler = Scheduler(configuration)
    scheduler.put_namespace(Namespace("crowd"))
    for flavor in FLAVORS:
        scheduler.put_flavor(ResourceFlavor(flavor, node_labels={"pool": flavor}))
    scheduler.put_cohort(Cohort("company"))
    quotas = {name: Quota(units) for name, units in OWN.items()}
    groups = (ResourceGroup(("cpu", "memory"), tuple(FlavorQuotas(name, quotas) for name in FLAVORS)),)
    for number in range(queues):
        team = number // QUEUES_PER_TEAM
        division = team // TEAMS_PER_DIVISION
        if number % (QUEUES_PER_TEAM * TEAMS_PER_DIVISION) == 0:
            scheduler.put_cohort(Cohort(f"division-{division}", parent="company"))
        if number % QUEUES_PER_TEAM == 0:
            scheduler.put_cohort(Cohort(f"team-{team}", parent=f"division-{division}"))
        queue = ClusterQueue(
            f"queue-{number:04}",
            cohort=f"team-{team}",
            groups=groups,
            namespace_selector=EVERYTHING,
            preemption=preemption,
            strict_fifo=strict,
        )
        scheduler.put_cluster_queue(queue, active=True)
    return scheduler


def fill(scheduler: Scheduler, queues: int, holders: int) -> None:
    """`holders` workloads use up each queue's own quota of both flavors."""
    for number in range(queues):
        for place in range(holders):
            share = max(1, holders // 2)
            hold(scheduler, number, place, {name: units // share for name, units in OWN.items()})


def hold(scheduler: Scheduler, number: int, place: int, usage: dict[str, int]) -> None:
    """One workload of high priority, in one flavor or the other by its place."""
    flavor = FLAVORS[place % 2]
    admission = Admission(
        f"queue-{number:04}",
        (PodSetAssignment("main", dict.fromkeys(usage, flavor), usage, 1),),
    )
    reserved = {"QuotaReserved": Condition("QuotaReserved", "True", "QuotaReserved", "", float(place))}
    name = f"holder-{number}-{place}"
    workload = Workload("crowd", name, name, 1, 0.0, "lq", (), priority=10, admission=admission, conditions=reserved)
    scheduler.charge(workload, admission.usage())


def hog(scheduler: Scheduler, queues: int, holders: int) -> None:
    """The first queue of each team holds the quota of all ten, in `holders` workloads."""
    for team in range(queues // QUEUES_PER_TEAM):
        for place in range(holders):
            usage = {name: units * 2 * QUEUES_PER_TEAM // holders for name, units in OWN.items()}
            hold(scheduler, team * QUEUES_PER_TEAM, place, usage)


def crowd(queues: int, depth: int) -> list[tuple[Workload, str]]:
    """`depth` workloads for each queue, every one with a request of its own, none of which fits a full queue."""
    return [(waiting(number, place), f"queue-{number:04}") for place in range(depth) for number in range(queues)]


def waiting(number: int, place: int) -> Workload:
    name = f"workload-{number:04}-{place:04}"
    requests = {"cpu": 1000 + place, "memory": GI + number}
    return Workload(
        "crowd",
        name,
        f"00000000-0000-4000-8000-{number:06}{place:06}",
        1000 + number,
        1_700_000_000.0 + place,
        "lq",
        (PodSet("main", 1, requests),),
    )
