"""The API server's news, read into State: one reflector and one reader per kind.

A manifest lives only as long as its reader looks at it: what stays is the reader's value, without pod templates.
The first lists come one kind after another in the order of `model.kinds.WATCHED`, so that queues are known before
workloads, and workloads before the jobs that own them. Kinds of jobs that JobKind objects describe come on top of
those, and the kinds of objects in which templates of such jobs lie: they are followed as long as they are described,
and nobody waits for them.
"""

import asyncio
import gc
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from admission.jobs.descriptor import Descriptor
from admission.jobs.template_sources import read_template_source
from admission.model.configuration import NAMESPACE
from admission.model.job_kind import Place
from admission.model.kinds import COUNTED, OPTIONAL, SINGLE, WATCHED, Ref, kind_of
from admission.model.template_source import TemplateSource
from admission.reconcile.view import Serving
from controller.kit import metrics
from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log
from controller.kube.client import Client
from controller.kube.errors import Forbidden, NotFound
from controller.kube.reflector import Changed, Delta, Gone, Missing, Reflector, Synced

Reader = Callable[[dict[str, Any]], object]

# Young objects are looked at when a million more were made than freed, old ones as good as never: manifests have no
# circles, and looking for some after every page took an eighth of the CPU of reading it.
FEW_COLLECTIONS = (1_000_000, 20, 10_000)
# Pods that have ended use nothing; some clusters keep more of them than of the others.
LIVING = "status.phase!=Succeeded,status.phase!=Failed"

log = Log("books")


class Facts(Protocol):
    """The part of State that is told what the API server holds."""

    @property
    def job_kinds(self) -> Mapping[str, Descriptor]: ...

    @property
    def counted(self) -> tuple[str, ...]: ...

    @property
    def template_places(self) -> Mapping[str, tuple[Place, ...]]: ...

    def serves(self, kind: str, serving: Serving) -> None: ...

    def observe(self, kind: str, value: Any, *, read: bool = False) -> None: ...

    def lend(self, source: TemplateSource) -> None: ...

    def lend_no_more(self, ref: Ref) -> None: ...

    def gone(self, ref: Ref, resource_version: int | None = None, *, read: bool = False) -> None: ...


class Books:
    """`changed` is set after every fact that State was told. `namespace`: the product's own."""

    def __init__(
        self,
        client: Client,
        state: Facts,
        readers: Mapping[str, Reader],
        changed: asyncio.Event,
        *,
        kinds: tuple[str, ...] = WATCHED,
        namespace: str = NAMESPACE,
        clock: Clock = SYSTEM,
    ) -> None:
        self._client = client
        self._clock = clock
        self._state = state
        self._readers = readers
        self._changed = changed
        self._kinds = kinds
        self._namespace = namespace
        self._reflectors = {kind: self._reflector(kind) for kind in kinds}
        self._synced = {kind: asyncio.Event() for kind in kinds}
        self._followers: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._complain: dict[str, bool] = {}
        self._described: dict[str, Descriptor] = {}
        self._lending: dict[str, tuple[Place, ...]] = {}
        self._lenders: dict[str, Reflector] = {}

    def _reflector(self, kind: str) -> Reflector:
        optional = kind in OPTIONAL
        if kind not in SINGLE:
            return Reflector(self._client, kind, optional=optional, clock=self._clock)
        alone = f"metadata.name={SINGLE[kind]}"
        return Reflector(
            self._client, kind, namespace=self._namespace, fields=alone, optional=optional, clock=self._clock
        )

    @property
    def synced(self) -> bool:
        """Every kind's list is complete."""
        return all(event.is_set() for event in self._synced.values())

    def missing(self) -> list[str]:
        """Kinds whose list is not complete."""
        return [kind for kind, event in self._synced.items() if not event.is_set()]

    async def run(self) -> None:
        """Keep State in step, for ever."""
        # What first lists leave behind stays for good. Looking through it again and again for garbage took two fifths
        # of the CPU of reading 50,000 workloads.
        usual = gc.get_threshold()
        gc.set_threshold(*FEW_COLLECTIONS)
        async with asyncio.TaskGroup() as self._group:
            for kind in self._kinds:
                self._follow(kind)
                await self._synced[kind].wait()
            gc.freeze()
            gc.set_threshold(*usual)
            log.info("in step with the API server", kinds=len(self._kinds))

    async def fresh(self, since: float) -> None:
        """Return once every list was asked for after `since` (steady clock): what we know is no older than that."""
        for event in self._synced.values():
            await event.wait()
        for kind in self._kinds:
            reflector = self._reflectors[kind]
            if reflector.listed_from < since:
                self._followers[kind].cancel()
                await asyncio.wait([self._followers[kind]])
                self._synced[kind].clear()
                self._follow(kind)
                await self._synced[kind].wait()

    async def look(self, ref: Ref) -> None:
        """GET one object and tell State, to settle a doubt. Raises ApiError."""
        metrics.READS.labels(ref.kind).inc()
        try:
            manifest = await self._client.get(ref)
        except NotFound:
            self._state.gone(ref, read=True)
        except Forbidden:
            reflector = self._reflectors.get(ref.kind)
            if reflector is not None and reflector.listed_from > float("-inf"):
                raise
            self._state.gone(ref, read=True)  # we know no object of the kind, nor shall we
        else:
            reflector = self._reflectors.get(ref.kind)
            if reflector is None or reflector.heard_of(manifest):
                self._observe(ref, manifest, read=True)
            else:
                self._state.gone(ref, read=True)
        self._changed.set()

    def _redescribe(self) -> None:
        """Whose description has changed is read anew, all of it."""
        wanted = {kind: found for kind, found in self._state.job_kinds.items() if kind not in self._readers}
        for kind, descriptor in list(self._described.items()):
            if wanted.get(kind) == descriptor:
                continue
            del self._described[kind]
            self._followers.pop(kind).cancel()
            if kind in wanted:
                self._reflectors[kind].again()
            else:
                del self._reflectors[kind]
        for kind, descriptor in wanted.items():
            if kind not in self._described:
                self._described[kind] = descriptor
                if kind not in self._reflectors:
                    self._reflectors[kind] = Reflector(self._client, kind, optional=True, clock=self._clock)
                self._follow(kind)

    def _follow_lenders(self) -> None:
        """Kinds of objects in which templates of jobs lie. One may be a kind of jobs, too, and is followed twice."""
        wanted = self._state.template_places
        for kind, places in list(self._lending.items()):
            if wanted.get(kind) != places:
                del self._lending[kind], self._lenders[kind]
                self._followers.pop(f"templates in {kind}").cancel()
        for kind, places in wanted.items():
            if kind not in self._lending:
                assert self._group is not None, "run() comes first"
                self._lending[kind] = places
                self._lenders[kind] = Reflector(self._client, kind, optional=True, clock=self._clock)
                name = f"templates in {kind}"
                self._followers[name] = self._group.create_task(self._tell_templates(kind, places), name=name)

    async def _tell_templates(self, kind: str, places: tuple[Place, ...]) -> None:
        async for delta in self._lenders[kind].deltas():
            match delta:
                case Changed(_, manifest, _):
                    metrics.WATCH_EVENTS.labels(kind).inc()
                    self._state.lend(read_template_source(kind, manifest, places))
                case Gone(ref):
                    metrics.WATCH_EVENTS.labels(kind).inc()
                    self._state.lend_no_more(ref)
                case Synced():
                    self._complain[kind] = True
                    self._state.serves(kind, Serving(served=True))
                case Missing(_, forbidden):
                    self._note_missing(kind, forbidden)
                    self._state.serves(kind, Serving(served=False, forbidden=bool(forbidden)))
            self._changed.set()

    def _count(self) -> None:
        """Pods and nodes are followed as long as there are elastic quotas, and nobody waits for them."""
        for kind in COUNTED:
            if kind in self._state.counted and kind not in self._followers:
                fields = LIVING if kind == "Pod" else ""
                self._reflectors[kind] = Reflector(self._client, kind, fields=fields, optional=True, clock=self._clock)
                self._follow(kind)
            elif kind not in self._state.counted and kind in self._followers:
                self._followers.pop(kind).cancel()
                del self._reflectors[kind]

    def _follow(self, kind: str) -> None:
        assert self._group is not None, "run() comes first"
        self._followers[kind] = self._group.create_task(self._tell_all(kind), name=f"books of {kind}")

    async def _tell_all(self, kind: str) -> None:
        async for delta in self._reflectors[kind].deltas():
            self._tell(kind, delta)

    def _tell(self, kind: str, delta: Delta) -> None:
        match delta:
            case Changed(ref, manifest, _):
                metrics.WATCH_EVENTS.labels(kind).inc()
                self._observe(ref, manifest)
            case Gone(ref, version):
                metrics.WATCH_EVENTS.labels(kind).inc()
                self._state.gone(ref, version)
            case Synced():
                self._complain[kind] = True
                self._state.serves(kind, Serving(served=True))
                self._sync(kind)
            case Missing(_, forbidden):
                self._note_missing(kind, forbidden)
                self._state.serves(kind, Serving(served=False, forbidden=bool(forbidden)))
                if kind in self._kinds and kind not in OPTIONAL:
                    return
                self._sync(kind)
        if kind == "JobKind":
            self._redescribe()
            self._follow_lenders()
        if kind == "ElasticQuota":
            self._count()
        self._changed.set()

    def _sync(self, kind: str) -> None:
        if kind in self._synced:
            self._synced[kind].set()

    def _observe(self, ref: Ref, manifest: dict[str, Any], *, read: bool = False) -> None:
        try:
            reader = self._readers.get(ref.kind) or self._state.job_kinds[ref.kind].read
            value = reader(manifest)
        except Exception:
            # One object that nobody can read must not stop everybody's jobs. What was known of it stays.
            metrics.UNREADABLE.labels(ref.kind).inc()
            log.exception("cannot read an object; it is left as it was known", object=str(ref))
            return
        self._state.observe(ref.kind, value, read=read)

    def _note_missing(self, kind: str, forbidden: str) -> None:
        if not self._complain.get(kind, True):
            return
        self._complain[kind] = False
        served = kind_of(kind)
        if forbidden:
            log.warning("objects of a kind can't be seen; will look again", kind=kind, why=forbidden)
        elif kind in OPTIONAL or kind not in self._kinds:
            log.info("not served here; will look again", kind=kind, api_version=served.api_version)
        else:
            log.warning(
                "waiting for a kind that the API server does not serve; install it with `lockgate crds | kubectl apply "
                "--server-side -f -`",
                kind=kind,
                api_version=served.api_version,
            )
