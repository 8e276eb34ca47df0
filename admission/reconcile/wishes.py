"""What a reconcile function answers: the object as it should be, further effects, and when to look again."""

from dataclasses import dataclass

from admission.model.effects import Effect, EmitEvent
from admission.model.kinds import Ref
from admission.model.workload import Workload


@dataclass(frozen=True, slots=True)
class Wishes:
    """`workload`: the value its status should take (None: leave it). `effects`: further requests, in order.
    `wake_at`: look again then, if nothing happens before. `seek`: this object must be read first."""

    workload: Workload | None = None
    effects: tuple[Effect, ...] = ()
    events: tuple[EmitEvent, ...] = ()
    wake_at: float | None = None
    seek: Ref | None = None


NOTHING = Wishes()
