"""What the product will do by itself and when, read off the objects: else a case could leap over it."""

from dataclasses import dataclass, field

from admission.model.configuration import WaitForPodsReady
from admission.model.kinds import Ref
from admission.model.names import ADMITTED, EVICTED, PODS_READY
from admission.model.times import seconds
from admission.world.objects import Frozen, condition, holds

# After a wait of so long the product says why, and it says something new only that long after the old (seconds).
REPORT_AFTER = 5.0


@dataclass(frozen=True, slots=True)
class Due:
    """The same moment in the scenario's and in the world's time."""

    moment: float
    real: float


@dataclass
class Timers:
    """Told of every Workload that changes, in the scenario's words. `waits`: for pods to be ready."""

    waits: WaitForPodsReady | None
    _due: dict[tuple[Ref, str], Due] = field(default_factory=dict)
    _pending: dict[Ref, None] = field(default_factory=dict)
    _stirred: Due | None = None

    def stir(self, moment: float, real: float) -> None:
        """Somebody wrote something, or a decision fell: who waits now will be told in a while."""
        self._stirred = Due(moment + REPORT_AFTER, real + REPORT_AFTER)

    def note(self, ref: Ref, workload: Frozen | None, moment: float, real: float) -> None:
        for key in [key for key in self._due if key[0] == ref]:
            del self._due[key]
        self._pending.pop(ref, None)
        if workload is None or holds(workload, "Finished"):
            return
        spec, status = workload.get("spec") or {}, workload.get("status") or {}
        if not holds(workload, "QuotaReserved"):
            self._pending[ref] = None
            self._at(ref, "requeue", (status.get("requeueState") or {}).get("requeueAt"), 0.0, moment, real)
        longest = spec.get("maximumExecutionTimeSeconds")
        if longest and holds(workload, ADMITTED):
            ran = status.get("accumulatedPastExecutionTimeSeconds") or 0
            since = (condition(workload, ADMITTED) or {}).get("lastTransitionTime")
            self._at(ref, "longest", since, longest - ran, moment, real)
        if self.waits is not None and holds(workload, ADMITTED) and not holds(workload, EVICTED):
            self._late_pods(ref, workload, self.waits, moment, real)

    def _late_pods(self, ref: Ref, workload: Frozen, waits: WaitForPodsReady, moment: float, real: float) -> None:
        ready = condition(workload, PODS_READY) or {}
        if ready.get("status") == "True":
            return
        if ready.get("reason") != "WaitForRecovery":
            since = (condition(workload, ADMITTED) or {}).get("lastTransitionTime")
            self._at(ref, "pods", since, waits.timeout, moment, real)
        elif waits.recovery_timeout is not None:
            self._at(ref, "pods", ready.get("lastTransitionTime"), waits.recovery_timeout, moment, real)

    def _at(self, ref: Ref, what: str, since: str | None, after: float, moment: float, real: float) -> None:
        if since is not None:
            ahead = seconds(since) + after - moment
            self._due[ref, what] = Due(moment + ahead, real + ahead)

    def reached(self, real: float) -> None:
        """What was due by then has happened, as far as it is ours to know."""
        self._due = {key: due for key, due in self._due.items() if due.real > real}
        if self._stirred is not None and self._stirred.real <= real:
            self._stirred = None

    def next(self) -> Due | None:
        """What comes first."""
        found = list(self._due.values())
        if self._stirred is not None and self._pending:
            found.append(self._stirred)
        return min(found, key=lambda due: due.moment, default=None)
