"""Small clusters by seed. The same seed and number give the same scenario on every machine.

Sizes are such that queues are contended: quotas of a few units, workloads of one to four, some ten of them. Priorities
are all different in most scenarios, for Kueue leaves the order of equals open (uid, or the second of an admission).
"""

from random import Random

from hack.peer.parts import events, queues, workloads
from hack.peer.scenario import Manifest, Scenario

# Most of what Kueue decides, it decides with the settings that it ships; so these come more often.
SETTINGS = ("plain", "fair", "plain", "fair", "resources")


def scenario(seed: str, number: int, settings: str) -> Scenario:
    """One of them."""
    random = Random(f"{seed}/{settings}/{number}")
    plan = queues.plan(random, settings)
    estate = queues.manifests(random, plan)
    jobs = workloads.workloads(random, plan)
    script = events.script(random, plan, jobs)
    objects: list[Manifest] = [*estate, *jobs]
    return Scenario(f"{settings}-{seed}-{number}", settings, tuple(objects), tuple(script), frozenset(plan.features))


def scenarios(seed: str, count: int, settings: tuple[str, ...] = SETTINGS) -> list[Scenario]:
    """So many, the settings by turns."""
    return [scenario(seed, number, settings[number % len(settings)]) for number in range(count)]
