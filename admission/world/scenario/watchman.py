"""The laws of a scenario, watched at every moment of its run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from admission.model.amounts import BadQuantity, exact
from admission.model.names import ADMITTED, FINISHED
from admission.reconcile.requests import Request
from admission.world.answers import HookCall
from admission.world.metadata import valid_label_value
from admission.world.objects import Frozen, holds
from admission.world.product import Write
from admission.world.scenario.file_form import Law, MaxAdmitted, MaxWrites, NoRequests
from admission.world.scenario.recorder import Recorder
from admission.world.stage import Stage
from admission.world.store import Change


class Watchman:
    """`broken` says by law (its index in `always`) how it was broken first."""

    def __init__(self, laws: Sequence[Law], world: Stage, recorder: Recorder) -> None:
        self.broken: dict[int, str] = {}
        self._laws = tuple(enumerate(laws))
        self._world = world
        self._recorder = recorder
        world.api.listen(self._on_change)
        world.on_write(self._on_write)

    def crashed(self, why: str) -> None:
        """The product ended, or one of its loops stopped."""
        for index, law in self._laws:
            if law.noCrash:
                self._break(index, why)

    def heard(self, calls: Sequence[HookCall]) -> None:
        """What webhooks answered to some request."""
        for index, law in self._laws:
            for call in calls:
                if law.noInternalError and call.code >= 500:
                    self._break(index, f"{call.path} answered {call.code} {call.message}")

    def _break(self, index: int, how: str) -> None:
        self.broken.setdefault(index, f"at t={self._recorder.t:g}: {how}")

    def _on_change(self, change: Change) -> None:
        for index, law in self._laws:
            if law.noNegativeUsage and change.ref.kind in ("ClusterQueue", "LocalQueue", "Workload"):
                for place in _negatives(change.new.get("status"), "status"):
                    self._break(index, f"{change.ref}: {place}")
            if law.maxAdmitted and change.ref.kind == "Workload":
                self._check_admitted(index, law.maxAdmitted)

    def _check_admitted(self, index: int, law: MaxAdmitted) -> None:
        total = sum(_usage(workload, law.resource) for workload in self._world.api.scan("Workload"))
        if total > exact(law.quantity):
            self._break(index, f"{float(total):g} {law.resource} admitted at once, {law.quantity} allowed")

    def _on_write(self, write: Write, request: Request) -> None:
        for index, law in self._laws:
            if law.labelValuesValid:
                for place in _bad_labels(request.body, ""):
                    self._break(index, f"{write.verb} {write.ref}: {place}")
            if law.maxWrites:
                self._check_rate(index, law.maxWrites, write)
            if law.noRequests:
                self._check_silence(index, law.noRequests, write)

    def _check_rate(self, index: int, law: MaxWrites, write: Write) -> None:
        if law.ref is not None:
            refs = {self._recorder.ref(law.ref)}
        else:
            owned = self._recorder.names_ever_owned(law.workloadOf or "")
            refs = {self._recorder.ref(f"Workload/{name}") for name in owned}
        if write.ref not in refs:
            return
        recent = sum(w.ref in refs and w.at > write.at - law.per for w in reversed(self._world.writes))
        if recent > law.count:
            self._break(index, f"{recent} writes to {write.ref} in {law.per:g} s, {law.count} allowed")

    def _check_silence(self, index: int, law: NoRequests, write: Write) -> None:
        if write.ref != self._recorder.ref(law.ref) or self._recorder.t <= law.after:
            return
        if write.code not in (law.except_ or ()):
            self._break(index, f"{write.verb} {write.ref} was answered {write.code}, after t={law.after:g}")


def _usage(workload: Frozen, resource: str) -> Any:
    """What an admitted workload that neither finished nor was deactivated holds."""
    if not holds(workload, ADMITTED) or holds(workload, FINISHED):
        return 0
    if (workload.get("spec") or {}).get("active") is False:
        return 0
    admission = (workload.get("status") or {}).get("admission") or {}
    return sum(
        exact(str((entry.get("resourceUsage") or {}).get(resource, "0")))
        for entry in admission.get("podSetAssignments") or ()
    )


def _negatives(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _negatives(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _negatives(item, f"{path}[{index}]")
    elif isinstance(value, int | float) and value < 0:
        yield f"{path} is {value}"
    elif isinstance(value, str) and value.startswith("-"):
        try:
            if exact(value) < 0:
                yield f"{path} is {value}"
        except BadQuantity:
            return


def _bad_labels(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "labels" and isinstance(item, Mapping):
                for name, text in item.items():
                    if text is not None and not valid_label_value(text):
                        yield f"label {name}={text!r} is not valid"
            else:
                yield from _bad_labels(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _bad_labels(item, path)
