"""Who has how much under which QueuePolicy: workloads that hold quota, what they hold, and those that wait.

Only kept while there are policies; every number is a sum over workloads and can be added up again from nothing.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from admission.model.names import WorkloadKey
from admission.rules.order import Rank

TOTAL, TOGETHER = -1, -2  # instead of a row: what one user has in all, and what everybody has


class Account(NamedTuple):
    policy: str
    row: int  # of its limits, or TOTAL or TOGETHER
    whose: str  # user | group | everybody
    name: str


@dataclass(slots=True)
class Use:
    """`line`: those who wait, first who is served first; workloads of all queues under the policy together."""

    running: int = 0
    resources: dict[str, int] = field(default_factory=dict)
    line: list[tuple[Rank, WorkloadKey]] = field(default_factory=list)


_NOTHING = Use()


class Accounts:
    """A workload is in the same accounts from when it is entered until it leaves."""

    def __init__(self) -> None:
        self._uses: dict[Account, Use] = {}
        self._held: dict[WorkloadKey, tuple[tuple[Account, ...], Mapping[str, int]]] = {}
        self._waits: dict[WorkloadKey, tuple[tuple[Account, ...], Rank]] = {}
        self.moved: dict[str, None] = {}  # policies whose totals are others now

    def clear(self) -> None:
        for account in self._uses:
            self.moved[account.policy] = None
        self._uses, self._held, self._waits = {}, {}, {}

    def of(self, account: Account) -> Use:
        """Not to be changed."""
        return self._uses.get(account, _NOTHING)

    def totals(self, policy: str) -> list[tuple[str, Use]]:
        """Users of a policy and what each has."""
        return [(one.name, use) for one, use in self._uses.items() if one.policy == policy and one.row == TOTAL]

    def hold(self, key: WorkloadKey, accounts: tuple[Account, ...], resources: Mapping[str, int]) -> None:
        """It holds quota; again for the same key: replaces."""
        self.release(key)
        if not accounts:
            return
        self._held[key] = accounts, resources
        for account in accounts:
            use = self._use(account)
            use.running += 1
            for resource, units in resources.items():
                use.resources[resource] = use.resources.get(resource, 0) + units

    def release(self, key: WorkloadKey) -> None:
        """Unknown keys are fine."""
        accounts, resources = self._held.pop(key, ((), {}))
        for account in accounts:
            use = self._use(account)
            use.running -= 1
            for resource, units in resources.items():
                left = use.resources[resource] - units
                if left:
                    use.resources[resource] = left
                else:
                    del use.resources[resource]
            self._close(account)

    def holds(self, key: WorkloadKey) -> bool:
        return key in self._held

    def wait(self, key: WorkloadKey, accounts: tuple[Account, ...], rank: Rank) -> None:
        """It waits; again for the same key: replaces."""
        self.leave(key)
        if not accounts:
            return
        self._waits[key] = accounts, rank
        for account in accounts:
            insort(self._use(account).line, (rank, key))

    def leave(self, key: WorkloadKey) -> tuple[tuple[Account, int], ...]:
        """Its accounts, and its place in each."""
        accounts, rank = self._waits.pop(key, ((), None))
        places = []
        for account in accounts:
            line = self._use(account).line
            at = bisect_left(line, (rank, key))
            del line[at]
            places.append((account, at))
            self._close(account)
        return tuple(places)

    def place(self, key: WorkloadKey, account: Account) -> int:
        """How many of the account come before it; 0 for one that does not wait."""
        waits = self._waits.get(key)
        return bisect_left(self.of(account).line, (waits[1], key)) if waits is not None else 0

    def _use(self, account: Account) -> Use:
        self.moved[account.policy] = None
        use = self._uses.get(account)
        if use is None:
            use = self._uses[account] = Use()
        return use

    def _close(self, account: Account) -> None:
        use = self._uses[account]
        if not use.running and not use.line:
            del self._uses[account]


def over_flavors(usage: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """(flavor, resource) -> units, as resource -> units."""
    totals: dict[str, int] = {}
    for (_, resource), units in usage.items():
        if units:
            totals[resource] = totals.get(resource, 0) + units
    return totals


def together(requests: Iterable[Iterable[tuple[str, int]]]) -> dict[str, int]:
    """Of all pod sets."""
    totals: dict[str, int] = {}
    for pod_set in requests:
        for resource, units in pod_set:
            totals[resource] = totals.get(resource, 0) + units
    return totals
