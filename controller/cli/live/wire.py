"""Requests of a case, from its own thread, through the one client of the command; answers in the scenario's words."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from admission.api.crd import STORED
from admission.model.kinds import KINDS, KUEUE, Kind, Ref, kind_of
from admission.world.answers import Answer, HookCall
from admission.world.objects import Frozen, kind_key
from admission.world.server import JOB_CONTROLLER
from admission.world.versions import version_of
from admission.world.webhooks import ADMINISTRATOR
from controller.cli.live.names import Names
from controller.cli.live.pace import Pace
from controller.kube.client import JSON, MERGE_PATCH, Client
from controller.kube.errors import ApiError, NotFound, Unreachable

JSON_PATCH = "application/json-patch+json"
# Marks a Job that the case runs itself: Kubernetes' own Job controller leaves it alone.
RUNNER = "lockgate.dev/scenario"
_BY_OURSELVES = (ADMINISTRATOR, JOB_CONTROLLER)
_WEBHOOK_FAILED = "failed calling webhook"


class Wire:
    """Names and times are translated in both directions. Raises ApiError only when nobody answers."""

    def __init__(self, client: Client, loop: asyncio.AbstractEventLoop, names: Names, pace: Pace) -> None:
        self._client = client
        self._loop = loop
        self._names = names
        self._pace = pace
        self._versions: set[int] = set()  # of objects, as we left them

    def wrote(self, version: int) -> bool:
        """Whether it was a request of this case that made this version."""
        return version in self._versions

    def read(self, ref: Ref, version: str = STORED) -> Frozen | None:
        """The object as it is now, in this version if it is of a kind of ours."""
        target = self._names.ref(ref)
        try:
            path = _in_version(ref.kind, version).path(target.namespace, target.name)
            return self.in_words(self.call("GET", path), ref.kind)
        except NotFound:
            return None

    def list(self, kind: str, namespace: str) -> Iterable[Frozen]:
        """All of a namespace, or of the whole cluster that belong to the case."""
        there = self._names.ref(Ref(kind, namespace, "")).namespace
        for item in self.call("GET", kind_of(kind).path(there)).get("items") or ():
            meta = item["metadata"]
            if self._names.mine(Ref(kind, meta.get("namespace", ""), meta["name"])):
                yield self.in_words(item, kind)

    def create(self, manifest: Frozen, user: str, dry_run: bool, *, run_by_us: bool = False) -> Answer:
        kind = kind_key(manifest)
        body = self._pace.real_stamps(self._names.to_cluster(manifest, kind))
        if run_by_us:
            body = {**body, "spec": {**(body.get("spec") or {}), "managedBy": RUNNER}}
        path = _in_version(kind, version_of(manifest)).path(body["metadata"].get("namespace", ""))
        return self._answer("POST", path, body, JSON, kind, user, {"dryRun": "All"} if dry_run else None)

    def patch(self, ref: Ref, body: Any, subresource: str | None, user: str, version: str = STORED) -> Answer:
        target = self._names.ref(ref)
        path = _in_version(ref.kind, version).path(target.namespace, target.name, subresource)
        if isinstance(body, Mapping):
            changed: Any = self._pace.real_stamps(self._names.to_cluster(body, ref.kind))
            return self._answer("PATCH", path, changed, MERGE_PATCH, ref.kind, user)
        return self._answer("PATCH", path, self._names.to_cluster_patch(body), JSON_PATCH, ref.kind, user)

    def delete(self, ref: Ref, user: str) -> Answer:
        target = self._names.ref(ref)
        options = {"propagationPolicy": "Background"}
        return self._answer(
            "DELETE", kind_of(ref.kind).path(target.namespace, target.name), options, JSON, ref.kind, user
        )

    def succeed(self, pod: Mapping[str, Any]) -> None:
        """As its kubelet would say it."""
        meta = pod["metadata"]
        path = KINDS["Pod"].path(meta["namespace"], meta["name"], "status")
        self.call("PATCH", path, {"status": {"phase": "Succeeded"}}, content_type=MERGE_PATCH)

    def in_words(self, manifest: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """An object of the cluster in the scenario's names and times, without our mark."""
        words: dict[str, Any] = self._names.to_file(self._pace.stamps_of(manifest))
        if kind == "Job" and (words.get("spec") or {}).get("managedBy") == RUNNER:
            del words["spec"]["managedBy"]
        return words

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """One request as it stands; the parsed answer. Raises ApiError."""
        encoded = None if body is None else msgspec.json.encode(body)
        asked = self._client.call(method, path, body=encoded, **more)
        answer = asyncio.run_coroutine_threadsafe(asked, self._loop).result()
        parsed: dict[str, Any] = msgspec.json.decode(answer)
        return parsed

    def _answer(
        self, method: str, path: str, body: Any, content: str, kind: str, user: str, query: Any = None
    ) -> Answer:
        as_user = "" if user in _BY_OURSELVES else user
        try:
            found = self.call(method, path, body, content_type=content, query=query, user=as_user)
        except Unreachable:
            raise
        except ApiError as error:
            message = self._names.to_file(str(error))
            failed = error.status >= 500 and _WEBHOOK_FAILED in message
            hooks = (HookCall("a webhook", False, error.status, message),) if failed else ()
            return Answer(error.status, reason=error.reason, message=message, hooks=hooks)
        whole = "metadata" in found and found.get("kind") != "Status"
        if whole and found["metadata"].get("resourceVersion"):
            self._versions.add(int(found["metadata"]["resourceVersion"]))
        return Answer(200, self.in_words(found, kind) if whole else None)


def _in_version(kind: str, version: str) -> Kind:
    """Where the API server has the kind in this version of our group."""
    found = kind_of(kind)
    return replace(found, version=version) if found.group == KUEUE else found
