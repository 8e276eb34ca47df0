"""The sentences. Each names what is asked, what is there, who has it, and what would help."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from admission.model.amounts import text
from admission.model.durations import spoken

if TYPE_CHECKING:
    from fractions import Fraction

    from admission.explain.explanation import Explanation, Holding, Lack
    from admission.model.elastic_quota import ElasticQuota
    from admission.model.workload import CheckState, Workload
    from admission.rules.elastic_quotas import Standing
    from admission.tree.shares import Dominant

# How Kueue names a taint in a condition; here it is written as kubectl does.
_TAINT = re.compile(r"untolerated taint \{(\S*) (\S*) (\S*) <nil>\} in flavor \S+")
_NAMED = 3  # holders, victims or workloads ahead that a sentence lists before it counts


def listed(names: Sequence[str], others: int = 0) -> str:
    """`a, b and c`, or `a, b, c and 4 others`."""
    others += max(0, len(names) - _NAMED)
    shown = list(names[:_NAMED])
    if others:
        shown.append(f"{others} other{'s' if others > 1 else ''}")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def of_flavor(lack: Lack) -> str:
    """What is missing in one flavor, and who has it."""
    asked, name = text(lack.resource, lack.asked), lack.resource
    match lack.verdict:
        case "NoMatchingFlavor" if not lack.flavor:
            return f"its queue has no quota for {name}: have it added to the queue, or do not ask for {name}"
        case "NoMatchingFlavor":
            return f"flavor {lack.flavor} does not suit its pods" + (f" ({note(lack.note)})" if lack.note else "")
        case "ExceedsMaxQuota":
            most = text(name, lack.most)
            return f"it asks for {asked} {name}, and its queue can never have more than {most} of flavor {lack.flavor}"
        case "fit":
            return f"flavor {lack.flavor} has the {asked} {name} it asks for"
    free, borrowable = text(name, lack.free), text(name, lack.borrowable)
    have = f"{free} free and {borrowable} to borrow" if lack.borrowable else f"{free} free"
    words = f"it asks for {asked} {name} of flavor {lack.flavor}: {have}, {text(name, lack.missing)} missing"
    if lack.borrowing_limit is not None:
        words += f" (its queue may borrow {text(name, lack.borrowing_limit)} and no more)"
    return f"{words}; {holders(lack)}" if lack.holders else words


def note(note: str) -> str:
    """What is wrong with a flavor, for a person."""
    return _TAINT.sub(r"the taint \1=\2:\3 is not tolerated", note)


def holders(lack: Lack) -> str:
    named = [_holder(lack.resource, holder) for holder in lack.holders[:_NAMED]]
    return f"held by {listed(named, lack.other_holders + max(0, len(lack.holders) - _NAMED))}"


def _holder(resource: str, holder: Holding) -> str:
    leaving = ", leaving" if holder.leaving else ""
    return f"{holder.name} ({text(resource, holder.units)} in queue {holder.cluster_queue}{leaving})"


def _told_once(lacks: Sequence[Lack]) -> list[Lack]:
    """Of several pod sets that lack the same, the one that asks for most: what those before it ask for is in it."""
    most: dict[tuple[str, ...], Lack] = {}
    for lack in lacks:
        what = lack.resource, lack.flavor, lack.verdict, lack.note
        if what not in most or lack.asked > most[what].asked:
            most[what] = lack
    return list(most.values())


def waits_for_quota(lacks: Sequence[Lack]) -> str:
    """From all flavors: the nearest to fitting first, then those that never will."""
    lacks = _told_once(lacks)
    waiting = sorted(
        (lack for lack in lacks if lack.missing and lack.verdict not in ("NoMatchingFlavor", "ExceedsMaxQuota")),
        key=lambda lack: lack.missing * 1000 // max(lack.asked, 1),
    )
    hopeless = [lack for lack in lacks if lack.verdict in ("NoMatchingFlavor", "ExceedsMaxQuota")]
    parts = [of_flavor(lack) for lack in [*waiting[:2], *hopeless[:2]]]
    return f"Waits for quota: {'; '.join(parts)}." if parts else "Waits for quota."


def never_fits(lacks: Sequence[Lack]) -> str:
    hopeless = [lack for lack in _told_once(lacks) if lack.verdict in ("ExceedsMaxQuota", "NoMatchingFlavor")]
    parts = [of_flavor(lack) for lack in hopeless[:_NAMED]]
    why = f": {'; '.join(parts)}" if parts else ""
    return f"Cannot start as it is{why}. Ask for less, or have the quota raised."


def no_flavor(lacks: Sequence[Lack], message: str) -> str:
    lacks = _told_once(lacks)
    uncovered = [lack for lack in lacks if lack.verdict == "NoMatchingFlavor" and not lack.flavor]
    if uncovered:
        return f"Cannot start: {'; '.join(of_flavor(lack) for lack in uncovered[:_NAMED])}."
    parts = [of_flavor(lack) for lack in lacks if lack.verdict == "NoMatchingFlavor"][:_NAMED]
    return f"No flavor of its queue suits it: {'; '.join(parts) or message}."


def pods(workload: Workload, counts: Mapping[str, int]) -> str:
    """`6 of its 10 pods`, or nothing where it gets all; of several pod sets those that get fewer."""
    fewer = [
        (one.name, got, one.count) for one in workload.pod_sets if (got := counts.get(one.name, one.count)) < one.count
    ]
    if len(workload.pod_sets) == 1:
        return "".join(f"{got} of its {asked} pods" for _, got, asked in fewer)
    return listed([f"{got} of {asked} pods of {name}" for name, got, asked in fewer]) if fewer else ""


def of_the_fewest(workload: Workload) -> str:
    """What the numbers are of; nothing where it accepts no fewer pods than it asks for."""
    least = pods(workload, {one.name: min(one.min_count or one.count, one.count) for one in workload.pod_sets})
    return f" That is for {least}, the fewest it accepts." if least else ""


def checks(states: Sequence[CheckState]) -> str:
    """Those that stand in its way, and what their controllers say."""
    open_ = [check for check in states if check.state != "Ready"]
    told = [f"{check.name} ({check.state}{': ' + check.message if check.message else ''})" for check in open_]
    if not told:
        return "Its admission checks have passed."
    return f"It waits for the admission check{'s' if len(told) > 1 else ''} {listed(told)}."


def unready(names: Sequence[str]) -> str:
    return (
        f"It fits, and starts when the pods of {listed(names)} are ready: one workload is admitted at a time "
        "(waitForPodsReady.blockAdmission)."
    )


def by_share(queue: str, standing: Dominant, weight: Fraction) -> str:
    """How much the queue borrows of what it could, which decides who is served next and who is preempted."""
    if not standing.share.value:
        return f"Fair sharing: queue {queue} borrows nothing, its share is 0."
    name = standing.resource
    part = f"{text(name, standing.borrowed)} of the {text(name, standing.lendable)} {name} that could be lent to it"
    if standing.share.infinite:
        return f"Fair sharing: queue {queue} borrows {part}, and its weight is 0: others are served before it."
    divided = f", divided by its weight {_number(weight)}" if weight != 1 else ""
    return f"Fair sharing: queue {queue} borrows {part}: its share is {standing.share.status} per mille{divided}."


def elastic(quota: ElasticQuota, standing: Standing, lacking: Sequence[str]) -> str:
    """What bounds a queue that is an elastic quota; nothing where that is not what its workload lacks."""
    told = [
        f"of {name} min {text(name, quota.min.get(name, 0))}, max {text(name, quota.max[name])}, and runtime, which "
        f"all that is asked for now leaves it, {text(name, standing.runtime[name])}; used, pods that name it included, "
        f"{text(name, standing.used[name])}"
        for name in dict.fromkeys(lacking)
        if name in standing.runtime
    ]
    return f" The queue is the elastic quota {quota.key}: {'; '.join(told)}." if told else ""


def by_usage(local_queue: str, fewer: int, others: int) -> str:
    """Where LocalQueues of one ClusterQueue are served by what they have used."""
    if not others:
        return ""
    which = f"{fewer} of {others} other LocalQueues have" if others > 1 else f"{fewer or 'no'} other LocalQueue has"
    return f"Usage counts in its queue: {which} used less than {local_queue} and come{'' if others > 1 else 's'} first."


def _number(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else f"{float(number):g}"


def preempting(victims: Sequence[str]) -> str:
    count = len(victims)
    return f"Waits for {count} preempted workload{'s' if count > 1 else ''} to leave: {listed(victims)}."


def strict(queue: str, head: str, head_why: str, fits: bool) -> str:
    own = "It would fit, but" if fits else "It"
    verb = "waits" if not fits else "it waits"
    return f"{own} {verb} behind {head} in the strict queue {queue}. There: {head_why}"


def closing(explanation: Explanation) -> str:
    """Position and estimate, where they mean something."""
    parts = []
    if explanation.position is not None and explanation.cluster_queue:
        parts.append(f"It is number {explanation.position + 1} in queue {explanation.cluster_queue}.")
    if explanation.starts_in is not None:
        parts.append(f"It should start in {spoken(explanation.starts_in)}.")
    elif explanation.never and explanation.reason and explanation.state in ("pending", "inadmissible"):
        parts.append("It does not start unless something changes.")
    return " ".join(parts)
