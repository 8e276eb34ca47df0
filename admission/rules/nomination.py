"""Looking at one workload: which flavors it would get and who would have to leave for it. Changes nothing."""

from collections.abc import Container

from admission.model.decisions import Shortage, Victim
from admission.model.names import WorkloadKey
from admission.model.queues import FlavorResource
from admission.rules import reasons
from admission.rules.accounts import together
from admission.rules.asks import Ask, Asks, problem_of
from admission.rules.estate import Estate
from admission.rules.flavors import (
    EVERY_FLAVOR,
    NOTHING_TRIED,
    Assignment,
    Flavors,
    Pinned,
    Progress,
    unavailable,
    unmatched,
    wanted,
)
from admission.rules.grades import FIT, NO_FIT, Judge, Shortfall
from admission.rules.holders import Remaining
from admission.rules.hunt import Hunt, Plan
from admission.rules.matching import mismatch
from admission.rules.partial import fewest, largest
from admission.rules.queue import Queue, Scanned, Waiting
from admission.tree import Node

_NEVER = (-1, -1)  # the stamp of no state: such a nomination is not used again


class Nomination:
    """One head in a cycle. `refusal` (reason, message) says why it was not even judged."""

    __slots__ = ("alike", "assignment", "queue", "refusal", "stamp", "victims", "waiting")

    def __init__(
        self,
        waiting: Waiting,
        queue: Queue,
        stamp: tuple[int, int],
        assignment: Assignment,
        victims: tuple[Victim, ...] = (),
        refusal: tuple[str, str] | None = None,
    ) -> None:
        self.waiting, self.queue, self.stamp = waiting, queue, stamp
        self.assignment, self.victims, self.refusal = assignment, victims, refusal
        self.alike = False  # whoever is refused: all who ask for the same are

    @property
    def contends(self) -> bool:
        """Whether it takes quota if what those before it took leaves enough."""
        return self.assignment.mode == FIT or bool(self.victims)

    @property
    def message(self) -> str:
        return reasons.couldnt_assign(self.assignment.failures)


def nominate(estate: Estate, queue: Queue, waiting: Waiting, now: float) -> Nomination:
    """Judge the head of an active queue. A result that rests on the same state is used again."""
    node = _node(estate, queue)
    stamp = (estate.tree.version(node), estate.era + estate.policing.revision)
    memo: Nomination | None = waiting.memo
    # Whether somebody is spared is no matter of the tree: news ends that, which no stamp shows.
    spares = waiting.key in estate.yielding.repeated
    if memo is not None and memo.stamp == stamp and waiting.scanned is None and not spares:
        return memo
    return _judge(estate, queue, waiting, node, stamp, now)


def look(estate: Estate, queue: Queue, waiting: Waiting, now: float) -> Nomination:
    """What `nominate` would say if nothing had been tried or remembered. Of a workload that accepts fewer pods and
    can't start with any, what stands in the way of the fewest."""
    node = _node(estate, queue)
    found = _judge(estate, queue, waiting, node, _NEVER, now, remembering=False)
    least = fewest(waiting.asks)
    if found.refusal is None and not found.contends and least != waiting.asks:
        hunt = Hunt(estate, queue, waiting, node, now)
        if hunt.partial:
            found.assignment, _ = hunt.plan(least, NOTHING_TRIED)
    return found


def _judge(
    estate: Estate, queue: Queue, waiting: Waiting, node: Node, stamp: tuple[int, int], now: float, *,
    remembering: bool = True,
) -> Nomination:  # fmt: skip
    refusal = _refusal(estate, queue, waiting)
    if refusal is not None:
        return Nomination(waiting, queue, stamp, Assignment(NO_FIT), refusal=refusal)
    if estate.policing.active and (limited := _limited(estate, queue, waiting, stamp)) is not None:
        return limited
    progress = _progress(estate, queue, waiting, node) if remembering else NOTHING_TRIED
    return Nomination(waiting, queue, stamp, *_best(Hunt(estate, queue, waiting, node, now), progress))


def again(estate: Estate, nomination: Nomination, gone: Container[WorkloadKey], now: float) -> Nomination:
    """As if `gone`, whose usage is out of the tree, held nothing; with the flavors that were found before."""
    queue, waiting = nomination.queue, nomination.waiting
    flavors = {
        (index, resource): flavor
        for index, pod_set in enumerate(nomination.assignment.pod_sets)
        for resource, flavor in pod_set.flavors.items()
    }
    hunt = Hunt(estate, queue, waiting, _node(estate, queue), now, Remaining(estate.holders, gone))
    return Nomination(waiting, queue, _NEVER, *_best(hunt, NOTHING_TRIED, flavors))


def _best(hunt: Hunt, progress: Progress, pinned: Pinned = EVERY_FLAVOR) -> Plan:
    """With all pods, or with as many as may start."""
    whole = hunt.plan(hunt.asks, progress, pinned)
    if _works(whole) or not hunt.partial:
        return whole

    def tried(asks: Asks) -> Plan | None:
        plan = hunt.plan(asks, progress, pinned)
        return plan if _works(plan) else None

    return largest(hunt.asks, tried) or whole


def _works(plan: Plan) -> bool:
    assignment, victims = plan
    return assignment.mode == FIT or bool(victims)


def survey(estate: Estate, queue: Queue, waiting: Waiting, assignment: Assignment, now: float) -> tuple[Shortage, ...]:
    """Every pod set, resource and flavor, whether the scan came that far or not; with the fewest pods that would do."""
    node, menu = _node(estate, queue), queue.menu
    if menu is None:
        return ()
    hunt = Hunt(estate, queue, waiting, node, now)
    judge, asks = hunt.judge(), fewest(waiting.asks) if hunt.partial else waiting.asks
    assumed: dict[FlavorResource, int] = {}
    served = {pod_set.name: pod_set for pod_set in assignment.pod_sets}
    found: list[Shortfall] = []
    for ask in asks:
        for request in wanted(ask, menu):
            group = menu.groups.get(request[0])
            if group is None:
                found += [unavailable(ask, *request)] if request[1] and menu.must_cover(request[0]) else []
                continue
            found += [_measure(judge, ask, request, name, estate.flavors, assumed) for name in group.flavors]
        if ask.name in served:
            for resource, flavor in served[ask.name].flavors.items():
                fr = (flavor, resource)
                assumed[fr] = assumed.get(fr, 0) + served[ask.name].usage[resource]
    return tuple([Shortage(*short) for short in found])


def _measure(
    judge: Judge, ask: Ask, request: tuple[str, int], flavor: str, flavors: Flavors, assumed: dict[FlavorResource, int]
) -> Shortfall:
    resource, units = request
    note = mismatch(flavor, flavors.get(flavor), ask)
    if note:
        return unmatched(ask, request, flavor, note)
    before = assumed.get((flavor, resource), 0)
    _, verdict, free, most = judge.grade((flavor, resource), before + units)
    return Shortfall(ask.name, resource, flavor, before + units, before, free, most, verdict)


def _refusal(estate: Estate, queue: Queue, waiting: Waiting) -> tuple[str, str] | None:
    namespace = waiting.workload.namespace
    if not estate.accepts(queue, namespace):
        known = namespace in estate.namespaces
        return "Misconfigured", reasons.NAMESPACE_MISMATCH if known else reasons.NAMESPACE_UNKNOWN
    problem = problem_of(waiting.workload)
    return ("Misconfigured", problem) if problem else None


def _limited(estate: Estate, queue: Queue, waiting: Waiting, stamp: tuple[int, int]) -> Nomination | None:
    """Its user has as much as a policy allows, whatever its queue has free."""
    refusal = estate.policing.refusal(waiting, together(ask.requests for ask in fewest(waiting.asks)))
    if refusal is None:
        return None
    limited = Nomination(waiting, queue, stamp, Assignment(NO_FIT), refusal=(refusal.reason, refusal.message))
    limited.alike = refusal.alike
    return limited


def _progress(estate: Estate, queue: Queue, waiting: Waiting, node: Node) -> Progress:
    """Scans go on where they stopped, unless the workload changed or, some cycles ago, the queue's quota did."""
    scanned = waiting.scanned
    if scanned is None or scanned.asks != waiting.asks:
        return NOTHING_TRIED
    kept = estate.configuration.gates["FlavorFungibilityPreserveScanProgress"] and queue.cycles - scanned.cycle <= 1
    if not kept and estate.tree.generation(node) > scanned.generation:
        return NOTHING_TRIED
    return scanned.progress


def scanned(estate: Estate, nomination: Nomination) -> Scanned | None:
    """What to remember of the scan; None when every flavor was tried."""
    queue, waiting, tried = nomination.queue, nomination.waiting, nomination.assignment.tried
    if not tried:
        return None
    return Scanned(tried, waiting.asks, queue.cycles, estate.tree.generation(_node(estate, queue)))


def _node(estate: Estate, queue: Queue) -> Node:
    node = estate.tree.queue(queue.name)
    if node is None:
        raise LookupError(f"ClusterQueue {queue.name} is active but not in the quota tree")
    return node
