"""QueuePolicies in the scheduler: who is over a limit, whose work is spared, and when that changes by itself.

Everything here is skipped while there is no policy. Beyond a limit a workload is set aside, in a strict queue too, and
says so; it is woken when somebody of its tree frees something, or when a place in its line becomes free.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from admission.model.amounts import text
from admission.model.durations import spoken
from admission.model.names import WorkloadKey
from admission.model.queue_policy import NOBODY, Identity, Limit, Manners, People, QueuePolicy, Target
from admission.model.queues import FlavorResource
from admission.model.workload import Workload
from admission.rules.accounts import TOGETHER, TOTAL, Account, Accounts, Use, over_flavors
from admission.rules.blocking import Blocking
from admission.rules.effective_policy import NO_POLICY, Effective, Policies, whom
from admission.rules.holders import Holder
from admission.rules.order import Rank
from admission.tree import Node, Tree

BEYOND_LIMITS = LIMITED, REFUSED = "LimitReached", "NotAllowed"  # reasons of a Hold


class Line(Protocol):
    """One who waits, as far as limits ask. A `Waiting` is one."""

    @property
    def key(self) -> WorkloadKey: ...
    @property
    def queue(self) -> str: ...
    @property
    def workload(self) -> Workload: ...
    @property
    def rank(self) -> Rank: ...


_NO_LIMIT = Limit(People())


class Refusal(NamedTuple):
    """`alike`: whoever of the same user asks for the same meets it, too."""

    reason: str
    message: str
    alike: bool


class Policing:
    """`waiting`, `holding`: everybody, to add up anew after policies or queues changed."""

    def __init__(
        self, tree: Tree, waiting: Callable[[], Iterable[Line]], holding: Callable[[], Iterable[Holder]]
    ) -> None:
        self.policies = Policies()
        self.accounts = Accounts()
        self.freed: dict[str, None] = {}  # queues where somebody has come within a limit on those who wait
        self.due: dict[str, float] = {}  # queues where somebody that is spared now is not from then on
        self._tree, self._waiting, self._holding = tree, waiting, holding
        self._effective: dict[tuple[str, str], Effective] = {}
        self._entries: dict[tuple[str, str, Identity], tuple[tuple[Account, Limit], ...]] = {}
        self.blocking = Blocking()
        self.revision = 0  # counts what may make another look worth while
        self._stale = False
        self._evictions: dict[str, list[float]] = {}  # policy -> when, within the time that counts
        self._assumed: list[WorkloadKey] = []

    @property
    def active(self) -> bool:
        """There are policies."""
        return bool(self.policies)

    # -- what changes ----------------------------------------------------------------------------------------------

    def put(self, policy: QueuePolicy) -> bool:
        """Whether it says something new."""
        changed = self.policies.put(policy)
        if changed:
            self.reshaped()
        return changed

    def drop(self, name: str) -> bool:
        """Whether there was one."""
        dropped = self.policies.drop(name)
        if dropped:
            self.reshaped()
        return dropped

    def reshaped(self) -> None:
        """Queues may be under other policies now."""
        self._effective.clear()
        self._entries.clear()
        self._stale = True

    def hold(self, holder: Holder) -> None:
        if not self.active:
            return
        self.revision += 1
        if not self._stale:
            self._enter(holder)

    def release(self, key: WorkloadKey) -> None:
        if not self.active:
            return
        self.revision += 1
        if not self._stale:
            self.accounts.release(key)

    def join(self, line: Line) -> None:
        if not self.active:
            return
        self.revision += 1
        if not self._stale:
            self._line_up(line)

    def leave(self, key: WorkloadKey, queue: str) -> None:
        if not self.active:
            return
        self.revision += 1
        self.freed.update(dict.fromkeys(self.blocking.left(queue, key)))
        if self._stale:
            return
        for account, place in self.accounts.leave(key):
            limit = self._most_pending(account)
            if limit is not None and place < limit <= len(self.accounts.of(account).line):
                self.freed[queue] = None  # whoever has come within it is in the same tree

    def knows_cohort(self, name: str) -> bool:
        """It is declared, or somebody names it."""
        return self._tree.cohort(name) is not None

    # -- limits ----------------------------------------------------------------------------------------------------

    def effective(self, queue: str, local_queue: str) -> Effective:
        """`local_queue`: namespace/name."""
        if not self.active:
            return NO_POLICY
        found = self._effective.get((queue, local_queue))
        if found is None:
            found = self._effective[queue, local_queue] = self.policies.effective(self._path(queue, local_queue))
        return found

    def refusal(self, line: Line, asked: Mapping[str, int]) -> Refusal | None:
        """Why it is over a limit, whatever its queue has free; all limits that it is over. `asked`: the least that it
        would take."""
        self._refresh()
        workload = line.workload
        entries = self._accounts_of(line.queue, _local_queue(workload), identity_of(workload))
        if not entries:
            return None
        never = [each for account, limit in entries for each in _never(account, limit, workload)]
        if never:
            return Refusal(REFUSED, "; ".join(dict.fromkeys(never)), alike=False)
        waiting = [each for account, limit in entries for each in self._waits_over(line.key, account, limit)]
        if waiting:
            return Refusal(LIMITED, "; ".join(waiting), alike=False)
        over = [each for account, limit in entries for each in self._over(account, limit, asked)]
        return Refusal(LIMITED, "; ".join(over), alike=True) if over else None

    def surplus(self, line: Line) -> str:
        """Why nothing that is freed helps it: too many of its user wait before it; "" otherwise."""
        self._refresh()
        entries = self._accounts_of(line.queue, _local_queue(line.workload), identity_of(line.workload))
        return "; ".join(each for account, limit in entries for each in self._waits_over(line.key, account, limit))

    def assume(self, line: Line, usage: Mapping[FlavorResource, int]) -> None:
        """Within a cycle it holds this, until `forget`."""
        accounts = self._accounts_of(line.queue, _local_queue(line.workload), identity_of(line.workload))
        self.accounts.hold(line.key, tuple([account for account, _ in accounts]), over_flavors(usage))
        self._assumed.append(line.key)

    def forget(self) -> None:
        """What was assumed."""
        for key in self._assumed:
            self.accounts.release(key)
        self._assumed.clear()

    def kind(self, workload: Workload) -> tuple[object, ...]:
        """What tells those of a queue apart who ask for the same."""
        if not self.active:
            return ()
        labels = tuple([label for label in workload.labels if label[0] in self.policies.label_keys])
        own = self.policies.at(Target("LocalQueue", workload.queue_name, workload.namespace))
        return identity_of(workload), labels, own

    def max_runtime(self, workload: Workload, queue: str) -> int | None:
        """Seconds that it may run, whatever it says itself."""
        limits = self.effective(queue, _local_queue(workload)).matching(identity_of(workload))
        return min((row.max_runtime for row in limits if row.max_runtime is not None), default=None)

    def totals(self, policy: str) -> list[tuple[str, Use]]:
        self._refresh()
        return self.accounts.totals(policy)

    # -- work that is spared ---------------------------------------------------------------------------------------

    @staticmethod
    def fixed(effective: Effective, labels: Collection[tuple[str, str]]) -> bool:
        """It is never preempted, and never borrows."""
        mark = effective.manners.non_preemptible
        return mark is not None and mark in labels

    def spared(self, holder: Holder, asking: str, own: bool, now: float) -> bool:
        """No workload of the queue `asking` may preempt it now. `own`: that is its own queue."""
        effective = self.effective(holder.queue, holder.local_queue)
        if effective is NO_POLICY or holder.evicted:
            return False
        if self.fixed(effective, holder.labels):
            return True
        manners = effective.manners
        least = manners.min_runtime if own else manners.reclaim_min_runtime
        if not least:
            return False
        until = (now if holder.reserved_since is None else holder.reserved_since) + least
        if until <= now:
            return False
        self.due[asking] = min(until, self.due.get(asking, until))
        return True

    def manners(self, line: Line) -> Manners:
        """What counts for one who waits."""
        return self.effective(line.queue, _local_queue(line.workload)).manners

    def evicted(self, holder: Holder, now: float) -> None:
        """It was preempted: that counts in its policy's budget."""
        effective = self.effective(holder.queue, holder.local_queue)
        if effective.manners.budget is not None:
            self._evictions.setdefault(effective.by["budget"], []).append(now)

    def beyond_budget(self, victims: Iterable[Holder], asking: str, now: float) -> str:
        """Why so many may not be preempted now; "" if they may."""
        asked: dict[str, int] = {}
        for holder in victims:
            effective = self.effective(holder.queue, holder.local_queue)
            budget, name = effective.manners.budget, effective.by.get("budget", "")
            if budget is None:
                continue
            asked[name] = asked.get(name, 0) + 1
            since = self._evictions[name] = [at for at in self._evictions.get(name, ()) if at + budget.per > now]
            if len(since) + asked[name] > budget.evictions:
                if since:
                    until = since[0] + budget.per
                    self.due[asking] = min(until, self.due.get(asking, until))
                per, count = spoken(budget.per), budget.evictions
                return f"preemption waits: QueuePolicy {name} allows {count} evictions in {per}, and {len(since)} were"
        return ""

    def take_due(self, now: float) -> list[str]:
        """Queues where somebody is spared no more."""
        found = [queue for queue, at in self.due.items() if at <= now]
        for queue in found:
            del self.due[queue]
        return found

    def take_freed(self) -> list[str]:
        freed, self.freed = list(self.freed), {}
        return freed

    # -- the accounts ----------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        if not self._stale:
            return
        self._stale = False
        self.accounts.clear()
        for holder in self._holding():
            self._enter(holder)
        for line in self._waiting():
            self._line_up(line)

    def _enter(self, holder: Holder) -> None:
        entries = self._accounts_of(holder.queue, holder.local_queue, holder.who)
        self.accounts.hold(holder.key, tuple([account for account, _ in entries]), over_flavors(holder.usage))

    def _line_up(self, line: Line) -> None:
        entries = self._accounts_of(line.queue, _local_queue(line.workload), identity_of(line.workload))
        self.accounts.wait(line.key, tuple([account for account, _ in entries]), line.rank)

    def _accounts_of(self, queue: str, local_queue: str, who: Identity) -> tuple[tuple[Account, Limit], ...]:
        """Each once, with what limits it."""
        at = queue, local_queue, who
        found = self._entries.get(at)
        if found is None:
            found = self._entries[at] = tuple(self._find_accounts(self.effective(queue, local_queue), who))
        return found

    def _find_accounts(self, effective: Effective, who: Identity) -> Iterator[tuple[Account, Limit]]:
        policy = effective.by.get("limits") or effective.by.get("max_pending")
        if policy is None:
            return
        if who.user:
            yield Account(policy, TOTAL, "user", who.user), _NO_LIMIT
        most = effective.manners.max_pending
        if most is not None:
            yield Account(effective.by["max_pending"], TOGETHER, "everybody", ""), Limit(People(), pending=most)
        for at, row in enumerate(effective.manners.limits or ()):
            for whose, name in whom(row, who):
                yield Account(policy, at, whose, name), row

    def _most_pending(self, account: Account) -> int | None:
        manners = self.policies.of(account.policy).manners
        if account.row == TOGETHER:
            return manners.max_pending
        return manners.limits[account.row].pending if manners.limits and account.row >= 0 else None

    def _path(self, queue: str, local_queue: str) -> Iterator[Target]:
        namespace, _, name = local_queue.partition("/")
        yield Target("LocalQueue", name, namespace)
        yield Target("ClusterQueue", queue)
        node = self._tree.queue(queue)
        seen: dict[Node, None] = {}
        while node is not None and node.above is not None and node.above not in seen:
            node = node.above
            seen[node] = None
            yield Target("Cohort", node.name)

    # -- sentences -------------------------------------------------------------------------------------------------

    def _waits_over(self, key: WorkloadKey, account: Account, limit: Limit) -> Iterator[str]:
        most = limit.pending
        if most is not None and self.accounts.place(key, account) >= most:
            count = len(self.accounts.of(account).line)
            if account.row == TOGETHER:
                yield f"{count} workloads wait, and QueuePolicy {account.policy} lets {most} wait at a time"
            else:
                yield f"{_name(account)} has {count} waiting of {most} that may wait by QueuePolicy {account.policy}"

    def _over(self, account: Account, limit: Limit, asked: Mapping[str, int]) -> Iterator[str]:
        use, by = self.accounts.of(account), f"allowed by QueuePolicy {account.policy}"
        if limit.running is not None and use.running >= limit.running:
            yield f"{_name(account)} runs {use.running} of {limit.running} jobs {by}"
        for resource, most in limit.resources.items():
            more, has = asked.get(resource, 0), use.resources.get(resource, 0)
            if more and has + more > most:
                has_of = f"{text(resource, has)} of {text(resource, most)} {resource}"
                yield f"{_name(account)} uses {has_of} {by}, and this asks for {text(resource, more)}"


def too_important(policy: str, limit: Limit, name: str, priority: int) -> Iterator[str]:
    """Why work of this user or group with such a priority is never admitted."""
    if limit.max_priority is not None and priority > limit.max_priority:
        yield f"priority {priority} is above {limit.max_priority}, the highest that QueuePolicy {policy} allows {name}"


def too_large(policy: str, limit: Limit, name: str, pods: int) -> Iterator[str]:
    """Why work of this user or group with so many pods is never admitted."""
    if limit.pods_per_workload is not None and pods > limit.pods_per_workload:
        yield f"{pods} pods are more than {limit.pods_per_workload}, the most that QueuePolicy {policy} allows {name}"


def _never(account: Account, limit: Limit, workload: Workload) -> Iterator[str]:
    if account.row >= 0:
        pods = sum(one.count for one in workload.pod_sets)
        yield from too_important(account.policy, limit, _name(account), workload.priority)
        yield from too_large(account.policy, limit, _name(account), pods)


def _name(account: Account) -> str:
    return f"group {account.name}" if account.whose == "group" else account.name


def _local_queue(workload: Workload) -> str:
    return f"{workload.namespace}/{workload.queue_name}"


def identity_of(workload: Workload) -> Identity:
    return Identity(workload.user, workload.groups) if workload.user or workload.groups else NOBODY
