"""The in-memory API server: what a client may ask of it, and what it answers.

Requests go the way they go in Kubernetes: patch, mutating webhooks, defaults, validation, validating webhooks, commit.
Callers get copies and may do with them what they like.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from admission.api.crd import STORED
from admission.model.kinds import Ref
from admission.model.selectors import Selector
from admission.model.times import stamp
from admission.world.answers import (
    Answer,
    Calls,
    Refused,
    already_exists,
    bad_request,
    conflict,
    forbidden,
    invalid,
    not_found,
    success,
)
from admission.world.decoding import decode_job, decoded_metadata
from admission.world.metadata import (
    changed_generation,
    generated_name,
    kept_metadata,
    metadata_errors,
    separate_status,
)
from admission.world.objects import Frozen, Object, copied, kind_key, ref_of, resource_of
from admission.world.patches import BadPatch, merged, patched
from admission.world.rules import defaulted, errors_of
from admission.world.store import Change, Store, Watch
from admission.world.versions import shown, taken, version_of
from admission.world.webhooks import ADMINISTRATOR, Webhooks

GARBAGE_COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
JOB_CONTROLLER = "system:serviceaccount:kube-system:job-controller"
PatchBody = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class ApiServer:
    """`now` gives the time for creation and deletion stamps."""

    def __init__(self, now: Callable[[], float], webhooks: Webhooks | None = None) -> None:
        self._now = now
        self._webhooks = webhooks
        self._unreadable: set[str] = set()
        self.store = Store()

    def use(self, webhooks: Webhooks) -> None:
        """From now on every write passes these."""
        self._webhooks = webhooks

    def forbid(self, kinds: Sequence[str]) -> None:
        """From now on reads of these kinds are answered 403."""
        self._unreadable.update(kinds)

    # reading

    def get(self, ref: Ref) -> Answer:
        if ref.kind in self._unreadable:
            return forbidden(ref, f'cannot get resource "{resource_of(ref)}"').answer
        found = self.store.get(ref)
        return success(found, 200) if found is not None else not_found(ref).answer

    def peek(self, ref: Ref) -> Frozen | None:
        """The object as it is kept, not a copy: read it only."""
        return self.store.get(ref)

    def peek_as(self, ref: Ref, version: str) -> Frozen | None:
        """The object as a reader of this version sees it: read it only."""
        found = self.store.get(ref)
        return None if found is None else shown(found, version)

    def list(self, kind: str, namespace: str = "", labels: Selector | None = None) -> list[Object]:
        """Copies, in order of creation."""
        return [copied(found) for found in self.scan(kind, namespace, labels)]

    def scan(self, kind: str, namespace: str = "", labels: Selector | None = None) -> Iterator[Frozen]:
        """The objects of a kind as they are kept, in order of creation: read them only."""
        for found in self.store.items(kind):
            meta = found["metadata"]
            if namespace and meta.get("namespace") != namespace:
                continue
            if labels is None or labels.matches(meta.get("labels") or {}):
                yield found

    def watch(self, kind: str) -> Watch:
        return self.store.watch(kind)

    def listen(self, listener: Callable[[Change], None]) -> None:
        self.store.listen(listener)

    # writing

    def create(self, manifest: Frozen, *, user: str = ADMINISTRATOR, dry_run: bool = False) -> Answer:
        """Of a kind of ours in any version, which is then the version of the answer."""
        made = self._answer(lambda calls: self._create(copied(manifest), user, dry_run, calls))
        return _in_version(made, version_of(manifest))

    def replace(
        self, manifest: Frozen, *, subresource: str | None = None, user: str = ADMINISTRATOR, dry_run: bool = False
    ) -> Answer:
        """PUT: without a metadata.resourceVersion it overwrites whatever is there."""
        ref = ref_of(manifest)
        return self._answer(
            lambda calls: self._change(ref, lambda _: copied(manifest), subresource, user, dry_run, calls)
        )

    def patch(
        self,
        ref: Ref,
        body: PatchBody,
        *,
        subresource: str | None = None,
        resource_version: int | None = None,
        user: str = ADMINISTRATOR,
        dry_run: bool = False,
        version: str = STORED,
    ) -> Answer:
        """A merge patch (mapping) or a JSON Patch (list). `resource_version`: conflict unless it is the present one;
        a merge patch may say so itself in metadata.resourceVersion. `version`: what it is a patch of, if ours."""

        def applied(stored: Frozen) -> Object:
            old = shown(stored, version)
            return taken(ref, changed(old), old)

        def changed(old: Frozen) -> Object:
            if resource_version is not None and old["metadata"]["resourceVersion"] != str(resource_version):
                raise conflict(ref)
            if isinstance(body, Mapping):
                return merged(old, body)  # type: ignore[no-any-return]
            try:
                return patched(old, body)  # type: ignore[no-any-return]
            except BadPatch as error:
                raise invalid(ref, [str(error)]) from error

        made = self._answer(lambda calls: self._change(ref, applied, subresource, user, dry_run, calls))
        return _in_version(made, version)

    def delete(self, ref: Ref, *, uid: str = "", user: str = ADMINISTRATOR, dry_run: bool = False) -> Answer:
        """`uid`: a precondition. With finalizers left, the object is only marked."""
        return self._answer(lambda calls: self._delete(ref, uid, user, dry_run, calls))

    def review(self, manifest: Frozen, *, update: bool = False, user: str = ADMINISTRATOR) -> Answer:
        """Only ask the webhooks about a manifest as it is written; an update is one of the object to itself."""
        ref, old = ref_of(manifest), copied(manifest) if update else None

        def asked(calls: Calls) -> Answer:
            new = copied(manifest)
            if self._webhooks is not None:
                new = self._webhooks.mutated(ref, old, new, None, user, calls)
                self._webhooks.validate(ref, old, new, None, user, calls)
            return Answer(200, new, hooks=tuple(calls))

        return self._answer(asked)

    # the way of a write

    def _answer(self, work: Callable[[Calls], Answer]) -> Answer:
        calls: Calls = []
        try:
            return work(calls)
        except Refused as refused:
            answer = refused.answer
            return Answer(answer.code, None, answer.reason, answer.message, tuple(calls))

    def _create(self, new: Object, user: str, dry_run: bool, calls: Calls) -> Answer:
        if not isinstance(new.get("kind"), str) or not isinstance(new.get("apiVersion"), str):
            raise bad_request("Object 'Kind' is missing: give apiVersion and kind")
        meta = new["metadata"] = decoded_metadata(new)
        key = kind_key(new)
        if key == "Job":
            decode_job(new)
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = generated_name(meta["generateName"], self.store.next_suffix())
        ref = ref_of(new)
        new = taken(ref, new)
        meta = new["metadata"]
        if ref.namespace:
            meta["namespace"] = ref.namespace
            self._open_namespace(ref)
        else:
            meta.pop("namespace", None)
        for name in ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"):
            meta.pop(name, None)
        meta["uid"] = self.store.next_uid()
        meta["creationTimestamp"] = stamp(self._now())
        meta["generation"] = 1
        if separate_status(key) and key != "Node":  # a kubelet registers its node with all that it has
            new.pop("status", None)
        if key == "Namespace":
            meta["labels"] = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": ref.name}
        new = self._admitted(ref, None, new, None, user, calls)
        if self.store.get(ref) is not None:
            raise already_exists(ref)
        if dry_run:
            return success(new, 201, tuple(calls))
        return success(self.store.put(ref, None, new), 201, tuple(calls))

    def _change(
        self,
        ref: Ref,
        apply: Callable[[Frozen], Object],
        subresource: str | None,
        user: str,
        dry_run: bool,
        calls: Calls,
    ) -> Answer:
        old = self.store.get(ref)
        if old is None:
            raise not_found(ref)
        if subresource not in (None, "status") or (subresource and not separate_status(ref.kind)):
            raise not_found(ref)
        new = apply(old)
        if new.get("metadata") is not old["metadata"]:
            new["metadata"] = decoded_metadata({**new, "kind": old["kind"], "apiVersion": old["apiVersion"]})
        if ref.kind == "Job" and new.get("spec") is not old["spec"]:
            decode_job({**new, "kind": old["kind"], "apiVersion": old["apiVersion"]})
        version = new["metadata"].get("resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            raise conflict(ref)
        new = self._own_part(ref.kind, old, kept_metadata(old, new), subresource)
        if new == old:
            return success(old, 200)
        new = self._admitted(ref, old, new, subresource, user, calls)
        new = self._own_part(ref.kind, old, kept_metadata(old, new), subresource)
        if new == old:
            return success(old, 200, tuple(calls))
        if changed_generation(ref.kind, old, new):
            new = {**new, "metadata": {**new["metadata"], "generation": old["metadata"].get("generation", 0) + 1}}
        if dry_run:
            return success(new, 200, tuple(calls))
        if new["metadata"].get("deletionTimestamp") and not new["metadata"].get("finalizers"):
            return success(self.store.remove(ref, new), 200, tuple(calls))
        return success(self.store.put(ref, old, new), 200, tuple(calls))

    def _own_part(self, kind: str, old: Frozen, new: Object, subresource: str | None) -> Object:
        """The status endpoint writes status alone, the main one everything but status."""
        if subresource == "status":
            return {**old, "status": new["status"]} if new.get("status") is not None else _without_status(old)
        if separate_status(kind):
            return {**new, "status": old["status"]} if "status" in old else _without_status(new)
        return new

    def _admitted(
        self,
        ref: Ref,
        old: Frozen | None,
        new: Object,
        subresource: str | None,
        user: str,
        calls: Calls,
    ) -> Object:
        new = defaulted(ref.kind, new, old)
        if self._webhooks is not None:
            new = self._webhooks.mutated(ref, old, new, subresource, user, calls)
            new = defaulted(ref.kind, new, old)
        errors = list(metadata_errors(ref, new, old)) if subresource is None else []
        errors += errors_of(ref.kind, new, old, subresource)
        if errors:
            raise invalid(ref, errors)
        if self._webhooks is not None:
            self._webhooks.validate(ref, old, new, subresource, user, calls)
        return new

    def _open_namespace(self, ref: Ref) -> None:
        namespace = Ref("Namespace", "", ref.namespace)
        found = self.store.get(namespace)
        if found is None:
            raise not_found(namespace)
        if found["metadata"].get("deletionTimestamp"):
            raise forbidden(
                ref, f"unable to create new content in namespace {ref.namespace} because it is being terminated"
            )

    def _delete(self, ref: Ref, uid: str, user: str, dry_run: bool, calls: Calls) -> Answer:
        old = self.store.get(ref)
        if old is None:
            raise not_found(ref)
        meta = old["metadata"]
        if uid and uid != meta["uid"]:
            raise conflict(ref, f"Precondition failed: UID in precondition: {uid}, UID in object meta: {meta['uid']}")
        if self._webhooks is not None:
            self._webhooks.let_go(ref, old, user, calls)
        if dry_run:
            return success(old, 200, tuple(calls))
        if meta.get("finalizers") or ref.kind == "Namespace":
            if meta.get("deletionTimestamp"):
                return success(old, 200, tuple(calls))
            marked = {**old, "metadata": {**meta, "deletionTimestamp": stamp(self._now())}}
            if "generation" in meta:
                marked["metadata"]["generation"] = meta["generation"] + 1
            return success(self.store.put(ref, old, marked), 200, tuple(calls))
        return success(self.store.remove(ref, old), 200, tuple(calls))


def _in_version(answer: Answer, version: str) -> Answer:
    if answer.body is None or version == STORED:
        return answer
    return replace(answer, body=copied(shown(answer.body, version)))


def _without_status(manifest: Frozen) -> Object:
    return {key: value for key, value in manifest.items() if key != "status"}
