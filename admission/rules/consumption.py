"""What LocalQueues of usage-based ClusterQueues have used, older usage counting less: who used least is served first.

A ledger in whole billionths of a core, byte or piece, so that a restart goes on from exactly what the status says. An
admission counts at once, by a penalty of what it would add until the next sample; when it is Admitted, the penalty
becomes consumption. Times are seconds since 1970, reckoned in milliseconds.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from admission.model.amounts import in_billionths
from admission.model.configuration import AdmissionFairSharing, Configuration
from admission.model.names import WorkloadKey
from admission.rules.decay import ONE, decayed, left

BILLION = 10**9
Amounts = Mapping[str, int]  # billionths by resource
# How much a LocalQueue has used for its weight; of weight 0 it is endless. Smaller is served first.
Standing = tuple[bool, Fraction]

_UNWEIGHTED = Fraction(1)
_NOTHING: Standing = (False, Fraction(0))


class Entry:
    """Of one LocalQueue."""

    __slots__ = ("consumed", "known", "owed", "penalties", "standing", "updated", "weight")

    def __init__(self, updated: float) -> None:
        self.consumed: dict[str, int] = {}
        self.known = False  # what the status said is counted
        self.updated = updated
        self.penalties: dict[WorkloadKey, Amounts] = {}
        self.owed: dict[str, int] = {}  # all penalties together: thousands can wait for slow checks
        self.weight = _UNWEIGHTED
        self.standing: Standing | None = None  # None: to be reckoned

    def penalise(self, key: WorkloadKey, penalty: Amounts) -> None:
        self.penalties[key] = penalty
        for resource, units in penalty.items():
            self.owed[resource] = self.owed.get(resource, 0) + units
        self.standing = None

    def excuse(self, key: WorkloadKey) -> Amounts:
        """The penalty that it has no more."""
        penalty = self.penalties.pop(key)
        for resource, units in penalty.items():
            self.owed[resource] -= units
        self.standing = None
        return penalty


class Consumption:
    """LocalQueues by key."""

    def __init__(self, settings: AdmissionFairSharing) -> None:
        self.interval = settings.usage_sampling_interval
        self._half_life = _milliseconds(settings.usage_half_life)
        self._weights = settings.resource_weights
        self._entries: dict[str, Entry] = {}
        self._penalised: dict[WorkloadKey, str] = {}  # workload -> the LocalQueue that its penalty is noted for
        self._admission = ONE - left(_milliseconds(self.interval), self._half_life)

    # -- what happens

    def know(self, queue: str, weight: Fraction, consumed: Amounts, now: float) -> None:
        """The LocalQueue as it is now. What its status says counts once, when it is first heard of; the time from
        then on: what ran meanwhile is not known."""
        entry = self._entry(queue, now)
        if not entry.known:
            entry.known = True
            for resource, units in consumed.items():
                entry.consumed[resource] = entry.consumed.get(resource, 0) + units
        entry.weight, entry.standing = weight, None

    def resume(self, queue: str, now: float) -> None:
        """It was not looked at while it used nothing and had nothing left over."""
        entry = self._entry(queue, now)
        if not entry.consumed:
            entry.updated = now

    def forget(self, queue: str) -> None:
        """It is gone."""
        entry = self._entries.pop(queue, None)
        for key in entry.penalties if entry is not None else ():
            del self._penalised[key]

    def penalise(self, key: WorkloadKey, queue: str, requests: Amounts, now: float) -> None:
        """The workload is to be admitted through the LocalQueue. Again for the same one: replaces."""
        self.excuse(key)
        entry = self._entry(queue, now)
        entry.penalise(key, {resource: units * self._admission // ONE for resource, units in requests.items()})
        self._penalised[key] = queue

    def excuse(self, key: WorkloadKey) -> bool:
        """It was not admitted after all. Whether it had a penalty."""
        queue = self._penalised.pop(key, None)
        if queue is None:
            return False
        self._entries[queue].excuse(key)
        return True

    def settle(self, key: WorkloadKey, used: Amounts, now: float) -> bool:
        """It is admitted for certain: its penalty counts as consumption, once. `used`: by all of its LocalQueue."""
        queue = self._penalised.pop(key, None)
        if queue is None:
            return False
        entry = self._entries[queue]
        penalty = entry.excuse(key)
        self._advance(entry, used, now)
        for resource, units in penalty.items():
            entry.consumed[resource] = entry.consumed.get(resource, 0) + units
        return True

    def sample(self, queue: str, used: Amounts, now: float) -> bool:
        """The regular look at what the LocalQueue uses; False: there is nothing to count and nothing left over."""
        entry = self._entry(queue, now)
        if not self._half_life:
            had = bool(entry.consumed)
            entry.consumed, entry.updated, entry.standing = {}, now, None
            return had
        if not entry.consumed and not any(used.values()):
            entry.updated = now
            return False
        self._advance(entry, used, now)
        return True

    def _advance(self, entry: Entry, used: Amounts, now: float) -> None:
        keep = left(_milliseconds(now) - _milliseconds(entry.updated), self._half_life)
        resources = sorted({*entry.consumed, *used})
        faded = {name: decayed(entry.consumed.get(name, 0), used.get(name, 0), keep) for name in resources}
        entry.consumed = {name: units for name, units in faded.items() if units}
        entry.updated, entry.standing = max(now, entry.updated), None

    def _entry(self, queue: str, now: float) -> Entry:
        entry = self._entries.get(queue)
        if entry is None:
            entry = self._entries[queue] = Entry(now)
        return entry

    # -- questions

    def standing(self, queue: str) -> Standing:
        """Penalties included. An unknown LocalQueue has used nothing."""
        entry = self._entries.get(queue)
        if entry is None:
            return _NOTHING
        if entry.standing is None:
            entry.standing = self._reckon(entry)
        return entry.standing

    def _reckon(self, entry: Entry) -> Standing:
        if entry.weight <= 0:
            return (True, Fraction(0))
        total = Fraction(0)
        for amounts in (entry.consumed, entry.owed):
            total += sum(self._weights.get(name, _UNWEIGHTED) * units for name, units in amounts.items())
        return (False, total / entry.weight)

    def penalised(self, key: WorkloadKey) -> str | None:
        """The LocalQueue that the penalty of the workload is noted for."""
        return self._penalised.get(key)

    def of(self, queue: str) -> tuple[Amounts, float] | None:
        """What its status should say: billionths, and since when."""
        entry = self._entries.get(queue)
        return None if entry is None else (entry.consumed, entry.updated)


def consumption_of(configuration: Configuration) -> Consumption | None:
    """None: admission fair sharing is off."""
    settings = configuration.admission_fair_sharing
    on = settings is not None and configuration.gates["AdmissionFairSharing"]
    return Consumption(settings) if on and settings is not None else None


def billionths(units: Iterable[tuple[str, int]]) -> dict[str, int]:
    """(resource, units as in `amounts`), several of one resource added up."""
    total: dict[str, int] = {}
    for resource, count in units:
        total[resource] = total.get(resource, 0) + in_billionths(resource, count)
    return total


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
