"""Kubernetes' garbage collector and namespace controller: what goes when its owner or its namespace goes.

An owner that vanishes takes its dependents along; who names an owner that never existed stays.
"""

from collections import deque

from admission.model.kinds import Ref
from admission.world.server import GARBAGE_COLLECTOR, ApiServer
from admission.world.store import Change


class GarbageCollector:
    def __init__(self, api: ApiServer) -> None:
        self._api = api
        self._gone: deque[str] = deque()
        self._closing: dict[str, None] = {}
        api.listen(self._note)

    def step(self) -> bool:
        """Collect after one vanished owner or look into the closing namespaces; False when there is nothing."""
        if self._gone:
            uid = self._gone.popleft()
            for ref in self._api.store.dependents(uid):
                self._collect(ref, uid)
            return True
        return self._close_namespaces()

    def _note(self, change: Change) -> None:
        meta = change.new["metadata"]
        if change.type == "DELETED":
            if self._api.store.dependents(meta["uid"]):
                self._gone.append(meta["uid"])
            if change.ref.namespace and self._terminating(change.ref.namespace):
                self._closing[change.ref.namespace] = None
        elif change.ref.kind == "Namespace" and meta.get("deletionTimestamp"):
            self._closing[change.ref.name] = None

    def _terminating(self, namespace: str) -> bool:
        found = self._api.peek(Ref("Namespace", "", namespace))
        return found is not None and bool(found["metadata"].get("deletionTimestamp"))

    def _collect(self, ref: Ref, uid: str) -> None:
        found = self._api.peek(ref)
        if found is None:
            return
        meta = found["metadata"]
        left = [owner for owner in meta["ownerReferences"] if self._api.store.by_uid(owner["uid"]) is not None]
        if left:
            body = {"metadata": {"ownerReferences": left}}
            self._api.patch(ref, body, user=GARBAGE_COLLECTOR)
        elif not meta.get("deletionTimestamp"):
            self._api.delete(ref, uid=meta["uid"], user=GARBAGE_COLLECTOR)

    def _close_namespaces(self) -> bool:
        closing, self._closing = list(self._closing), {}
        for name in closing:
            for ref in self._api.store.in_namespace(name):
                found = self._api.peek(ref)
                if found is not None and not found["metadata"].get("deletionTimestamp"):
                    self._api.delete(ref, user="system:serviceaccount:kube-system:namespace-controller")
            namespace = Ref("Namespace", "", name)
            last = self._api.peek(namespace)
            if last is not None and not self._api.store.in_namespace(name):
                self._api.store.remove(namespace, last)
        return bool(closing)
