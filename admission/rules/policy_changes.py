"""What a change of QueuePolicies, or of what they count, wakes in the scheduler."""

from admission.model.decisions import Evict, Hold
from admission.model.queue_policy import QueuePolicy
from admission.rules.estate import Estate
from admission.rules.policing import LIMITED, Policing
from admission.rules.queue import Waiting
from admission.rules.shrinking import Shrinking
from admission.rules.waking import Waking


class PolicyChanges:
    def __init__(self, estate: Estate, waking: Waking) -> None:
        self._estate, self._waking = estate, waking
        self._shrinking = Shrinking(estate)

    @property
    def policing(self) -> Policing:
        """Who is under which policies, and who has how much."""
        return self._estate.policing

    def put(self, policy: QueuePolicy) -> bool:
        """New or changed; wakes everybody when it says something new, and tells whether it does."""
        changed = self.policing.put(policy)
        if changed:
            self._anew()
        return changed

    def drop(self, name: str) -> None:
        """It counts no more."""
        if self.policing.drop(name):
            self._anew()

    def _anew(self) -> None:
        self._estate.era += 1
        for queue in self._estate.queues.values():
            queue.line_up_anew(self.kind)
            self._waking.flush(queue.name)

    def kind(self, waiting: Waiting) -> tuple[object, ...]:
        """What tells it from others of its queue who ask for the same."""
        return self.policing.kind(waiting.workload)

    def surplus(self, waiting: Waiting) -> Hold | None:
        """The answer for one who is not queued, since too many of its user are before it."""
        why = self.policing.surplus(waiting) if self.policing.active else ""
        return Hold(waiting.key, LIMITED, why, parked=True) if why else None

    def wake(self, now: float) -> None:
        """Those who have come within a limit, and those for whom somebody is spared no more."""
        policing = self.policing
        over = policing.blocking.expire(self._estate.holders.__contains__, now)
        policing.freed.update(dict.fromkeys(over))
        if policing.freed or policing.due:
            due = policing.take_due(now)
            self._estate.era += bool(due)
            for queue in (*policing.take_freed(), *due):
                self._waking.flush(queue)

    def evictions(self, now: float) -> tuple[Evict, ...]:
        """Those who have to leave since a quota was lowered."""
        return self._shrinking.run(now)

    @property
    def wake_at(self) -> float | None:
        """When another run may decide otherwise, though nothing has happened."""
        times = [*self.policing.due.values(), self.policing.blocking.next, self._shrinking.wake_at]
        return min((one for one in times if one is not None), default=None)
