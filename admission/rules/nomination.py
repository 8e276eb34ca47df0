"""Looking at one workload: which flavors it would get and who would have to leave for it. Changes nothing."""

from typing import Final

from admission.model.decisions import Shortage, Victim
from admission.model.queues import FlavorResource
from admission.rules import reasons
from admission.rules.asks import Ask, Asks, problem_of
from admission.rules.estate import Estate
from admission.rules.flavors import NOTHING_TRIED, Assignment, Flavors, Progress, assign, unavailable, unmatched, wanted
from admission.rules.grades import FIT, NO_CANDIDATES, NO_FIT, PREEMPT, RECLAIM, Judge, Shortfall
from admission.rules.matching import mismatch
from admission.rules.menu import Menu
from admission.rules.partial import largest
from admission.rules.preemption import anybody, ask_oracle, find_victims
from admission.rules.preemption_candidates import Search
from admission.rules.queue import Queue, Scanned, Waiting
from admission.tree import Node

Plan = tuple[Assignment, tuple[Victim, ...]]
_MODES: Final = {"noCandidates": NO_CANDIDATES, "preempt": PREEMPT, "reclaim": RECLAIM}


class Nomination:
    """One head in a cycle. `refusal` (reason, message) says why it was not even judged."""

    __slots__ = ("assignment", "queue", "refusal", "stamp", "victims", "waiting")

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
    stamp = (estate.tree.version(node), estate.era)
    memo: Nomination | None = waiting.memo
    if memo is not None and memo.stamp == stamp and waiting.scanned is None:
        return memo
    return _judge(estate, queue, waiting, node, stamp, now)


def look(estate: Estate, queue: Queue, waiting: Waiting, now: float) -> Nomination:
    """What `nominate` would say if nothing had been tried or remembered."""
    node = _node(estate, queue)
    return _judge(estate, queue, waiting, node, (-1, -1), now, remembering=False)


def _judge(
    estate: Estate, queue: Queue, waiting: Waiting, node: Node, stamp: tuple[int, int], now: float, *,
    remembering: bool = True,
) -> Nomination:  # fmt: skip
    refusal = _refusal(estate, queue, waiting)
    if refusal is not None:
        return Nomination(waiting, queue, stamp, Assignment(NO_FIT), refusal=refusal)
    menu = queue.menu
    if menu is None:
        raise LookupError(f"ClusterQueue {queue.name} has no spec and cannot nominate {waiting.key}")
    progress = _progress(estate, queue, waiting, node) if remembering else NOTHING_TRIED
    hunt = _Hunt(estate, queue, waiting, node, now)
    assignment, victims = hunt.plan(menu, waiting.asks, progress)
    if assignment.mode != FIT and not victims and estate.configuration.gates["PartialAdmission"]:
        fewer = largest(waiting.asks, lambda asks: _workable(hunt.plan(menu, asks, progress)))
        assignment, victims = fewer or (assignment, victims)
    return Nomination(waiting, queue, stamp, assignment, victims)


def _workable(plan: Plan) -> Plan | None:
    assignment, victims = plan
    return plan if assignment.mode == FIT or victims else None


class _Hunt:
    """Who could be preempted for one workload."""

    __slots__ = ("_estate", "_node", "_now", "_prospects", "_queue", "_waiting")

    def __init__(self, estate: Estate, queue: Queue, waiting: Waiting, node: Node, now: float) -> None:
        self._estate, self._queue, self._waiting, self._node, self._now = estate, queue, waiting, node, now
        self._prospects = queue.prospects.at((estate.tree.version(node), estate.era))

    def plan(self, menu: Menu, asks: Asks, progress: Progress) -> Plan:
        assignment = assign(asks, menu, self.judge(menu), self._estate.flavors, progress)
        return assignment, self.victims(assignment) if assignment.mode == PREEMPT and menu.preempts else ()

    def judge(self, menu: Menu) -> Judge:
        return Judge(menu, self._node, self._oracle if menu.preempts else None)

    def victims(self, assignment: Assignment) -> tuple[Victim, ...]:
        if self._hopeless(tuple(assignment.needs)):
            return ()
        estate = self._estate
        usage, needs = assignment.usage, assignment.needs
        return find_victims(
            estate.tree, estate.active, estate.holders, self._waiting, usage, needs, self._now, estate.fairness
        )

    def _oracle(self, fr: FlavorResource, units: int) -> tuple[int, int] | None:
        if self._hopeless((fr,)):
            return None
        estate = self._estate
        possibility, height = ask_oracle(
            estate.tree, estate.active, estate.holders, self._waiting, fr, units, self._now, estate.fairness
        )
        return _MODES[possibility], height

    def _hopeless(self, needs: tuple[FlavorResource, ...]) -> bool:
        """No holder whatsoever may be preempted to make room in `needs`, however much is asked for."""
        if self._prospects.fruitless(needs, self._waiting.rank):
            return True
        estate, spec = self._estate, self._queue.spec
        if spec is None:
            return True
        search = Search(self._node, spec.preemption, self._waiting, dict.fromkeys(needs, 1), needs, self._now)
        if anybody(search, estate.active, estate.holders, estate.fairness):
            return False
        self._prospects.found_nobody(needs, self._waiting.rank)
        return True


def survey(estate: Estate, queue: Queue, waiting: Waiting, assignment: Assignment, now: float) -> tuple[Shortage, ...]:
    """Every pod set, resource and flavor, whether the scan came that far or not."""
    node, menu = _node(estate, queue), queue.menu
    if menu is None:
        return ()
    judge = _Hunt(estate, queue, waiting, node, now).judge(menu)
    assumed: dict[FlavorResource, int] = {}
    served = {pod_set.name: pod_set for pod_set in assignment.pod_sets}
    found: list[Shortfall] = []
    for ask in waiting.asks:
        for request in wanted(ask, menu):
            group = menu.groups.get(request[0])
            if group is None:
                found += [unavailable(ask, *request)] if request[1] and not menu.ignores_undeclared else []
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


def _progress(estate: Estate, queue: Queue, waiting: Waiting, node: Node) -> Progress:
    """Scans go on where they stopped, unless the workload changed or, some cycles ago, the queue's quota did."""
    scanned = waiting.scanned
    if scanned is None or scanned.asks != waiting.asks:
        return NOTHING_TRIED
    if queue.cycles - scanned.cycle > 1 and estate.tree.generation(node) > scanned.generation:
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
