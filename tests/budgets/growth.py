"""How the cost of a cycle grows with queues, depth, pending and admitted workloads: `python -m tests.budgets.growth`.

One row changes one number. CPU seconds on this machine; ratios are what to look at.
"""

import time

from admission.model.decisions import Hold
from admission.model.queues import Preemption
from admission.rules.scheduler import Scheduler
from tests.budgets.crowd import build, crowd, fill, waiting

POLICY = Preemption("LowerPriority", "Any")


def main() -> None:
    print(f"{'queues':>7} {'depth':>6} {'pending':>8} {'admitted':>9} {'answers/CPU s':>14} {'one more, ms':>13}"
          f" {'one leaves, ms':>15}")  # fmt: skip
    for queues, depth, holders in [
        (100, 10, 4), (1000, 10, 4), (3000, 10, 4),
        (100, 100, 4), (100, 1000, 4), (1, 10_000, 4),
        (100, 10, 40), (100, 10, 400),
    ]:  # fmt: skip
        measure(queues, depth, holders)


def measure(queues: int, depth: int, holders: int) -> None:
    scheduler = build(queues, preemption=POLICY)
    fill(scheduler, queues, holders)
    for workload, queue in crowd(queues, depth):
        scheduler.push(workload, queue, 0.0)
    answers, seconds = to_rest(scheduler)
    scheduler.push(waiting(0, depth + 1), "queue-0000", 0.0)
    _, push = to_rest(scheduler)
    scheduler.release(next(iter(scheduler.holders.of("queue-0000"))).key, 0.0)
    _, release = to_rest(scheduler)
    print(
        f"{queues:7} {depth:6} {queues * depth:8} {queues * holders:9} {answers / seconds:14,.0f} {push * 1000:13.2f}"
        f" {release * 1000:15.1f}"
    )


def to_rest(scheduler: Scheduler) -> tuple[int, float]:
    start, answers = time.process_time(), 0
    while True:
        run = scheduler.run(0.0, 256)
        answers += sum(isinstance(each, Hold) for each in run.decisions)
        if not run.more:
            return answers, time.process_time() - start


if __name__ == "__main__":
    main()
