"""What fair sharing costs against the classical rules: the same crowd waits, is admitted, or takes back what is its."""

import gc
import time
from collections import Counter
from collections.abc import Callable

import pytest

from admission.model.configuration import Configuration, FairSharing
from admission.model.queues import Preemption
from admission.rules.scheduler import Scheduler
from tests.budgets.crowd import build, crowd, fill, hog
from tests.budgets.limits import limit

BUDGET = 256  # effects per run, as the controller asks for
TRIES = 3  # others on the machine only ever make it slower, so the best try of each counts
FAIR, CLASSICAL = Configuration(fair_sharing=FairSharing()), Configuration()


def waits(configuration: Configuration) -> Scheduler:
    scheduler = build(100, preemption=Preemption("LowerPriority", "Any"), configuration=configuration)
    fill(scheduler, 100, holders=4)
    return pushed(scheduler, 100, 10)


def is_admitted(configuration: Configuration) -> Scheduler:
    return pushed(build(100, configuration=configuration), 100, 10)


def reclaims(configuration: Configuration) -> Scheduler:
    scheduler = build(100, preemption=Preemption("LowerPriority", "Any"), configuration=configuration)
    hog(scheduler, 100, holders=40)
    return pushed(scheduler, 100, 4)


def pushed(scheduler: Scheduler, queues: int, depth: int) -> Scheduler:
    for workload, queue in crowd(queues, depth):
        scheduler.push(workload, queue, 0.0)
    return scheduler


def cost(scheduler: Scheduler) -> tuple[float, Counter[str]]:
    """CPU seconds until nothing is left to decide, and what was decided."""
    decided: Counter[str] = Counter()
    gc.collect()
    gc.freeze()  # what other tests have left in this process is not its business
    start = time.process_time()
    while True:
        run = scheduler.run(0.0, BUDGET)
        decided.update(type(each).__name__ for each in run.decisions)
        if not run.more:
            break
    seconds = time.process_time() - start
    gc.unfreeze()
    return seconds, decided


@pytest.mark.parametrize(("made", "what"), [(waits, "Hold"), (is_admitted, "Admit"), (reclaims, "Preempt")])
def test_fair_sharing_costs_little_more_than_the_classical_rules(
    made: Callable[[Configuration], Scheduler], what: str
) -> None:
    best: dict[bool, float] = {}
    for configuration in (FAIR, CLASSICAL) * TRIES:
        fair = configuration is FAIR
        seconds, decided = cost(made(configuration))
        assert decided[what] >= 10
        best[fair] = min(seconds, best.get(fair, seconds))
    assert best[True] / best[False] <= limit("fair_sharing", "times_classical")
