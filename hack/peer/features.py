"""What a scenario really exercised, told from what happened: a policy that nobody came to feel covers nothing.

Each feature is a question to a scenario and its outcome. `coverage` counts pairs of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hack.peer.outcome import Outcome
from hack.peer.parts.queues import POOL, TAINT
from hack.peer.scenario import Manifest, Scenario, named
from hack.peer.settings import CREDITS, FREE


@dataclass(frozen=True)
class Story:
    """A scenario and what came of it."""

    scenario: Scenario
    outcome: Outcome

    @cached_property
    def queues(self) -> dict[str, Manifest]:
        return {one["metadata"]["name"]: one["spec"] for one in self.scenario.objects if one["kind"] == "ClusterQueue"}

    @cached_property
    def cohorts(self) -> dict[str, Manifest]:
        return {one["metadata"]["name"]: one["spec"] for one in self.scenario.objects if one["kind"] == "Cohort"}

    @cached_property
    def specs(self) -> dict[str, Manifest]:
        """Of workloads, by `namespace/name`."""
        made = [one for one in self.scenario.objects if one["kind"] == "Workload"]
        return {named(one).partition("/")[2]: one["spec"] for one in made}

    @cached_property
    def seen(self) -> list[tuple[str, dict[str, Any]]]:
        """Every workload at every moment at which it was another than before."""
        found, last = [], dict[str, Any]()
        for moment in self.outcome.moments:
            for name, shown in moment.shows["workloads"].items():
                if last.get(name) != shown:
                    last[name] = shown
                    found.append((name, shown))
        return found

    @cached_property
    def admissions(self) -> list[tuple[str, dict[str, Any]]]:
        """Workloads with their admissions."""
        return [(name, shown["admission"]) for name, shown in self.seen if "admission" in shown]

    @cached_property
    def borrowers(self) -> set[str]:
        """ClusterQueues that held more than their own."""
        return {
            name
            for moment in self.outcome.moments
            for name, shown in moment.shows["clusterQueues"].items()
            if any(borrowed for _, borrowed in shown["reservation"].values())
        }

    @cached_property
    def waited(self) -> set[str]:
        """ClusterQueues in which somebody was told to wait."""
        return {self.queue(name) for name, shown in self.seen if self.is_waiting(shown)}

    @cached_property
    def preemptors(self) -> set[str]:
        """ClusterQueues for whose workloads others had to leave."""
        paths = [
            shown["conditions"]["Preempted"][2].partition("preemptor path: ")[2].partition(";")[0]
            for _, shown in self.seen
            if "Preempted" in shown["conditions"]
        ]
        return {path.rpartition("/")[2] for path in paths if path}

    def queue(self, workload: str) -> str:
        namespace, spec = workload.partition("/")[0], self.specs[workload]
        found: str = self.scenario.manifest(f"LocalQueue/{namespace}/{spec['queueName']}")["spec"]["clusterQueue"]
        return found

    def is_waiting(self, shown: dict[str, Any]) -> bool:
        return bool(shown["conditions"].get("QuotaReserved", ("",))[0] == "False")

    def reason(self, condition: str, *reasons: str) -> bool:
        """Whether some workload ever had this condition for one of these reasons."""
        return any(shown["conditions"].get(condition, ("", ""))[1] in reasons for _, shown in self.seen)

    def happened(self, op: str, kind: str = "", key: str = "") -> bool:
        """Whether there was such an event, accepted."""
        return any(
            moment.what.get("op") == op
            and not moment.answer
            and str(moment.what.get("ref", "")).startswith(kind)
            and key in str(moment.what.get("patch", ""))
            for moment in self.outcome.moments
        )

    def quotas(self, spec: Manifest) -> Iterator[Manifest]:
        for group in spec.get("resourceGroups") or ():
            for flavor in group["flavors"]:
                yield from flavor["resources"]


def _cohort(story: Story) -> bool:
    return bool(story.borrowers) or story.reason("Preempted", "InCohortReclamation", "InCohortFairSharing")


def _nested(story: Story) -> bool:
    return _cohort(story) and any("parentName" in (spec or {}) for spec in story.cohorts.values())


def _cohort_quota(story: Story) -> bool:
    return _cohort(story) and any("resourceGroups" in (spec or {}) for spec in story.cohorts.values())


def _borrowing_limit(story: Story) -> bool:
    limited = {name for name, spec in story.queues.items() if any("borrowingLimit" in q for q in story.quotas(spec))}
    return bool(limited & (story.borrowers | story.waited))


def _lending_limit(story: Story) -> bool:
    limited = {name for name, spec in story.queues.items() if any("lendingLimit" in q for q in story.quotas(spec))}
    return any((story.borrowers | story.waited) - {name} for name in limited)


def _several_flavors(story: Story) -> bool:
    return len({flavor for _, one in story.admissions for flavor in _flavors(one)} - {"gpu"}) > 1


def _flavors(admission: dict[str, Any]) -> list[str]:
    return [flavor for pod_set in admission["podSets"].values() for flavor in pod_set["flavors"].values()]


def _taint(story: Story) -> bool:
    """Somebody got the tainted flavor, or another one although that comes first."""
    tainted = [
        one["metadata"]["name"]
        for one in story.scenario.objects
        if one["kind"] == "ResourceFlavor" and "nodeTaints" in one["spec"]
    ]
    for name, admission in story.admissions:
        tolerates = TAINT in str(story.specs[name])
        if tainted and (tainted[0] in _flavors(admission) or (not tolerates and max(_flavors(admission)) > tainted[0])):
            return True
    return False


def _node_selector(story: Story) -> bool:
    return any(POOL in str(story.specs[name]) for name, _ in story.admissions)


def _two_groups(story: Story) -> bool:
    return any("gpu" in (all_ := set(_flavors(one))) and len(all_) > 1 for _, one in story.admissions)


def _several_resources(story: Story) -> bool:
    return any("memory" in pod_set["flavors"] for _, one in story.admissions for pod_set in one["podSets"].values())


def _preempts(story: Story, key: str) -> bool:
    """A queue with this in its policy made others leave, or waited."""
    having = {name for name, spec in story.queues.items() if key in str(spec.get("preemption"))}
    return bool(having & story.preemptors)


def _fungibility(story: Story, key: str) -> bool:
    having = {name for name, spec in story.queues.items() if key in str(spec.get("flavorFungibility"))}
    got = [(one["clusterQueue"], set(_flavors(one)) - {"gpu"}) for _, one in story.admissions]
    return any(queue in having and flavors != {"ash"} for queue, flavors in got)


def _strict(story: Story) -> bool:
    strict = {name for name, spec in story.queues.items() if spec.get("queueingStrategy") == "StrictFIFO"}
    return any(
        shown["pending"] > 1
        for moment in story.outcome.moments
        for name, shown in moment.shows["clusterQueues"].items()
        if name in strict
    )


def _equal(story: Story) -> bool:
    seen: set[tuple[str, int]] = set()
    for name, spec in story.specs.items():
        key = (story.queue(name), spec["priority"])
        if key in seen and story.queue(name) in story.waited:
            return True
        seen.add(key)
    return False


def _selector(story: Story) -> bool:
    chosen = {name for name, spec in story.queues.items() if spec["namespaceSelector"]}
    return bool(chosen & story.waited)


def _slow_stop(story: Story) -> bool:
    """Something happened while the evicted still held."""
    return any(
        moment.what
        and not moment.released
        and any(
            one["conditions"].get("Evicted", ("",))[0] == "True"
            and one["conditions"].get("QuotaReserved", ("",))[0] == "True"
            for one in before.shows["workloads"].values()
        )
        for before, moment in zip(story.outcome.moments, story.outcome.moments[1:], strict=False)
    )


def _shares(story: Story) -> bool:
    return any(
        shown.get("share") for moment in story.outcome.moments for shown in moment.shows["clusterQueues"].values()
    )


def _weights(story: Story) -> bool:
    weighed = {name for name, spec in story.queues.items() if "fairSharing" in spec}
    return _shares(story) and bool(weighed & (story.borrowers | story.waited))


def _stopped(story: Story, kind: str) -> bool:
    return any(
        shown["conditions"].get("Active", ("", ""))[1] == "Stopped" and (shown["pending"] or shown["reserving"] or True)
        for moment in story.outcome.moments
        for shown in moment.shows[kind].values()
    )


def _partial(story: Story) -> bool:
    for name, admission in story.admissions:
        asked = {one["name"]: one["count"] for one in story.specs[name]["podSets"]}
        if any(pod_set["count"] < asked[which] for which, pod_set in admission["podSets"].items()):
            return True
    return False


def _check(story: Story, state: str) -> bool:
    return any(one["state"] == state for _, shown in story.seen for one in shown.get("checks", {}).values())


def _flavor_check(story: Story) -> bool:
    having = {name for name, spec in story.queues.items() if "onFlavors" in str(spec.get("admissionChecksStrategy"))}
    return any(admission["clusterQueue"] in having for _, admission in story.admissions)


FEATURES: dict[str, Callable[[Story], bool]] = {
    "cohort": _cohort,
    "nested cohorts": _nested,
    "quota of a cohort": _cohort_quota,
    "borrowing limit": _borrowing_limit,
    "lending limit": _lending_limit,
    "several flavors": _several_flavors,
    "taint": _taint,
    "node selector": _node_selector,
    "two resource groups": _two_groups,
    "several resources": _several_resources,
    "preemption in the queue": lambda story: story.reason("Preempted", "InClusterQueue"),
    "reclaim": lambda story: story.reason("Preempted", "InCohortReclamation", "InCohortFairSharing"),
    "borrowWithinCohort": lambda story: _preempts(story, "borrowWithinCohort"),
    "threshold": lambda story: _preempts(story, "maxPriorityThreshold"),
    "fungibility": lambda story: _fungibility(story, "TryNextFlavor"),
    "preference": lambda story: _fungibility(story, "preference"),
    "StrictFIFO": _strict,
    "priority class": lambda story: any("priorityClassRef" in story.specs[name] for name, _ in story.admissions),
    "equal priorities": _equal,
    "several pod sets": lambda story: any(len(one["podSets"]) > 1 for _, one in story.admissions),
    "several namespaces": lambda story: len({name.partition("/")[0] for name, _ in story.admissions}) > 1,
    "namespace selector": _selector,
    "slow victims": _slow_stop,
    "fair sharing": _shares,
    "weights": _weights,
    "quota edited": lambda story: story.happened("json-patch", "ClusterQueue", "nominalQuota"),
    "ClusterQueue stopped": lambda story: _stopped(story, "clusterQueues"),
    "LocalQueue stopped": lambda story: _stopped(story, "localQueues"),
    "reclaimable pods": lambda story: any(shown.get("reclaimable") for _, shown in story.seen),
    "deactivation": lambda story: any(not shown["active"] for _, shown in story.seen),
    "priority edited": lambda story: (
        story.happened("patch", "Workload", "priority") or story.happened("patch", "WorkloadPriorityClass")
    ),
    "deletion": lambda story: story.happened("delete"),
    "check passed": lambda story: _check(story, "Ready"),
    "check refused": lambda story: story.reason("Evicted", "AdmissionCheck", "DeactivatedDueToAdmissionCheck"),
    "check of a flavor": _flavor_check,
    "partial admission": _partial,
    "excluded resource": lambda story: any(FREE in str(story.specs[name]) for name, _ in story.admissions),
    "transformed resource": lambda story: any(
        CREDITS in pod_set["flavors"] for _, one in story.admissions for pod_set in one["podSets"].values()
    ),
}


def exercised(scenario: Scenario, outcome: Outcome) -> frozenset[str]:
    """The features that came to matter."""
    story = Story(scenario, outcome)
    return frozenset(name for name, question in FEATURES.items() if question(story))
