"""The API server as events and judges of a scenario see it, when it is a real one."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from admission.api.crd import STORED
from admission.model.kinds import Ref
from admission.world.answers import Answer
from admission.world.objects import Frozen, ref_of
from admission.world.operators import NotPossible
from admission.world.store import Change
from admission.world.webhooks import ADMINISTRATOR
from controller.cli.live.wire import Wire


class LiveApi:
    """What events and judges see of the API server. Jobs in `ours` are run by the case, not by Kubernetes."""

    def __init__(self, wire: Wire, ours: frozenset[Ref], forbid: Callable[[Sequence[str]], None]) -> None:
        self.wrote = False
        self.ours = ours
        self.objects: dict[Ref, Frozen] = {}
        self.listeners: list[Callable[[Change], None]] = []
        self._wire = wire
        self._forbid = forbid

    def peek(self, ref: Ref) -> Frozen | None:
        return self._wire.read(ref)

    def peek_as(self, ref: Ref, version: str) -> Frozen | None:
        return self._wire.read(ref, version)

    def scan(self, kind: str, namespace: str = "") -> Iterable[Frozen]:
        if kind != "Workload":
            return list(self._wire.list(kind, namespace))
        return [
            found for ref, found in list(self.objects.items()) if ref.kind == kind and namespace in ("", ref.namespace)
        ]

    def create(self, manifest: Frozen, *, user: str = ADMINISTRATOR, dry_run: bool = False) -> Answer:
        self.wrote = True
        return self._wire.create(manifest, user, dry_run, run_by_us=self.is_ours(manifest))

    def patch(
        self,
        ref: Ref,
        body: Any,
        *,
        subresource: str | None = None,
        user: str = ADMINISTRATOR,
        version: str = STORED,
    ) -> Answer:
        self.wrote = True
        return self._wire.patch(ref, body, subresource, user, version)

    def delete(self, ref: Ref, *, user: str = ADMINISTRATOR) -> Answer:
        self.wrote = True
        return self._wire.delete(ref, user)

    def review(self, manifest: Frozen, *, update: bool = False) -> Answer:
        raise NotPossible("a raw review can't be sent on a real API server")

    def forbid(self, kinds: Sequence[str]) -> None:
        self._forbid(kinds)

    def listen(self, listener: Callable[[Change], None]) -> None:
        self.listeners.append(listener)

    def is_ours(self, manifest: Frozen) -> bool:
        if manifest.get("kind") != "Job":
            return False
        ref, meta = ref_of(manifest), manifest["metadata"]
        generated = ref._replace(name=f"{meta.get('generateName')}*")
        return ref in self.ours or generated in self.ours


class ForOperators:
    """What the operators that we play see: of the Jobs only our own."""

    def __init__(self, api: LiveApi) -> None:
        self.peek, self.patch = api.peek, api.patch
        self._api = api

    def listen(self, listener: Callable[[Change], None]) -> None:
        api = self._api
        api.listen(
            lambda change: None if change.ref.kind == "Job" and not api.is_ours(change.new) else listener(change)
        )
