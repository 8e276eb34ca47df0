"""Everything that a scenario names must be in it, at the time when it is named."""

from collections.abc import Iterator

from admission.world.scenario.event_forms import (
    AdmissionReview,
    Create,
    Delete,
    Event,
    SetRequest,
)
from admission.world.scenario.expectation_forms import (
    ClusterQueueIs,
    ConditionIs,
    CountIs,
    CountWorkloads,
    CountWrites,
    EventSent,
    Expectation,
    FieldIs,
    Foreign,
    IsGone,
    RequestIs,
    WorkloadIs,
)
from admission.world.scenario.file_form import ScenarioFile
from admission.world.scenario.foreign import ForeignQueues
from admission.world.scenario.naming import CLUSTER_SCOPED, SYSTEM_NAMESPACES, Manifest, by_name, names_of
from admission.world.scenario.needs import BY_CHOICE, needs_of
from admission.world.scenario.source import Path, Problem, Source, spelled

Finding = tuple[Path, str]


def reference_problems(form: ScenarioFile, source: Source) -> Iterator[Problem]:
    """What the file names and does not have, in order of the file."""
    for path, message in _Names(form).findings():
        yield Problem(spelled(path), source.line(path), message)


def event_ref(event: Event) -> str | None:
    """The object that an event is about, if it is about one."""
    return getattr(event, "ref", None) or getattr(event, "workloadOf", None)


def from_the_start(form: ScenarioFile) -> list[Manifest]:
    """The manifests that exist at t=0: all but those whose first event creates or only reviews them."""
    first = _first_events(form)
    return [m for m in form.objects if not isinstance(first.get(id(m)), Create | AdmissionReview)]


def _first_events(form: ScenarioFile) -> dict[int, Event]:
    manifests, first = by_name(form.objects), dict[int, Event]()
    for event in form.events:
        ref = getattr(event, "ref", None)
        if ref in manifests:
            first.setdefault(id(manifests[ref]), event)
    return first


class _Names:
    def __init__(self, form: ScenarioFile) -> None:
        self.form = form
        self.manifests = by_name(form.objects)
        self.spaces = {
            *SYSTEM_NAMESPACES,
            *(m["metadata"].get("name") for m in form.objects if m["kind"] == "Namespace"),
        }
        self.flavors = {m["metadata"].get("name") for m in form.objects if m["kind"] == "ResourceFlavor"}
        self.moments = {event.t for event in form.events}
        self.alive = {id(m) for m in from_the_start(form)}
        first = _first_events(form)
        self.ever = {id(m) for m in form.objects if not isinstance(first.get(id(m)), AdmissionReview)}
        self.unreadable = ""
        try:
            self._expect_converted()
        except ValueError as error:
            self.unreadable = str(error)

    def _expect_converted(self) -> None:
        """What comes of other systems' queues is there, too."""
        for made in ForeignQueues(self.form.objects).converted():
            for name in names_of(made):
                self.ever.add(id(self.manifests.setdefault(name, made)))
            if made["kind"] == "ResourceFlavor":
                self.flavors.add(made["metadata"]["name"])

    def _of_kind(self, *kinds: str) -> set[str]:
        return {m["metadata"].get("name", "") for m in self.form.objects if m["kind"] in kinds}

    def findings(self) -> Iterator[Finding]:
        if self.unreadable:
            yield ("objects",), self.unreadable
        yield from self._objects()
        yield from self._events()
        yield from self._requests()
        for index, expectation in enumerate(self.form.expect):
            for path, message in self._expectation(expectation):
                yield ("expect", index, *path), message
        yield from self._needs()
        for index, law in enumerate(self.form.always or ()):
            body = law.maxWrites or law.noRequests
            ref = body and (body.ref or getattr(body, "workloadOf", None))
            if ref:
                for _, message in self._known(ref, ()):
                    yield ("always", index), message

    def _needs(self) -> Iterator[Finding]:
        used, said = needs_of(self.form), set(self.form.needs)
        if used - said:
            yield ("needs",), f"the file also uses {', '.join(sorted(used - said))}: add it"
        if said - used - BY_CHOICE:
            yield ("needs",), f"nothing in the file uses {', '.join(sorted(said - used - BY_CHOICE))}: take it away"

    def _objects(self) -> Iterator[Finding]:
        seen: dict[str, Manifest] = {}
        for index, manifest in enumerate(self.form.objects):
            kind, space = manifest["kind"], manifest["metadata"].get("namespace")
            usual, *others = names_of(manifest)
            unique = others[0] if others else usual
            if unique in seen:
                yield ("objects", index), f"{unique} is there twice: rename one"
            seen[unique] = manifest
            if kind in CLUSTER_SCOPED and space:
                yield (
                    ("objects", index, "metadata", "namespace"),
                    f"a {kind} has no namespace: take it away",
                )
            if kind not in CLUSTER_SCOPED and space not in self.spaces:
                yield (
                    ("objects", index, "metadata"),
                    f"there is no Namespace {space}: add it",
                )

    def _events(self) -> Iterator[Finding]:
        refused = {a.request for a in self.form.expect if isinstance(a, RequestIs) and not a.allowed}
        last = 0.0
        for index, event in enumerate(self.form.events):
            place: Path = ("events", index)
            if event.t < last:
                yield (*place, "t"), f"t={event.t:g} goes back behind t={last:g}: put the events in order"
            last = event.t
            if isinstance(event, SetRequest):
                yield from self._leaves(place, event)
            ref = event_ref(event)
            if ref is not None:
                yield from self._at_its_time(place, event, ref, refused)

    def _at_its_time(self, place: Path, event: Event, ref: str, refused: set[str]) -> Iterator[Finding]:
        manifest = self.manifests.get(ref)
        if manifest is None:
            yield place, f"nothing among the objects is {ref}: add its manifest"
            return
        key = id(manifest)
        if isinstance(event, Create):
            if key in self.alive and "*" not in ref:
                yield place, f"{ref} exists already at t={event.t:g}"
            if event.id not in refused and not event.dryRun:
                self.alive.add(key)
        elif isinstance(event, AdmissionReview):
            return
        elif key not in self.alive:
            yield place, f"{ref} does not exist at t={event.t:g}: create it before"
        elif isinstance(event, Delete) and event.ref and not manifest["metadata"].get("finalizers"):
            self.alive.discard(key)

    def _leaves(self, place: Path, event: SetRequest) -> Iterator[Finding]:
        names = self._of_kind("ElasticQuota", "Queue")
        for name in event.requests:
            if name not in names:
                yield (*place, "requests", name), f"no ElasticQuota or Queue {name}: add its manifest"

    def _requests(self) -> Iterator[Finding]:
        asserted = {a.request for a in self.form.expect if isinstance(a, RequestIs)}
        seen: set[str] = set()
        for index, event in enumerate(self.form.events):
            request = getattr(event, "id", None)
            if request is None:
                continue
            if request in seen:
                yield ("events", index, "id"), f"{request} is used twice: give each request an id of its own"
            seen.add(request)
            if request not in asserted:
                yield (
                    ("events", index, "id"),
                    f"nothing is expected of {request}: add that or drop the id",
                )
        for index, expectation in enumerate(self.form.expect):
            if isinstance(expectation, RequestIs) and expectation.request not in seen:
                yield ("expect", index, "request"), f"no event has the id {expectation.request}"

    def _known(self, ref: str, path: Path) -> Iterator[Finding]:
        manifest = self.manifests.get(ref)
        if manifest is None or id(manifest) not in self.ever:
            yield path, f"nothing among the objects is {ref}: add its manifest"

    def _expectation(self, a: Expectation) -> Iterator[Finding]:
        at = getattr(a, "at", None)
        if at is not None and at not in self.moments:
            yield ("at",), f"no event marks t={at:g}: add {{t: {at:g}, op: tick}}"
        workload, owner = getattr(a, "workload", None), getattr(a, "workloadOf", None)
        if workload is not None:
            yield from self._known(f"Workload/{workload}", ("workload",))
        if owner is not None:
            yield from self._known(owner, ("workloadOf",))
        match a:
            case WorkloadIs():
                yield from self._workload(a)
            case ConditionIs(object=str(ref)) | FieldIs(object=str(ref)):
                yield from self._known(ref, ("object",))
            case ClusterQueueIs():
                yield from self._known(f"ClusterQueue/{a.clusterQueue}", ("clusterQueue",))
                yield from self._flavors({"reserved": a.reserved or {}, "borrowed": a.borrowed or {}})
            case IsGone(gone=ref):
                yield from self._known(ref, ("gone",))
            case EventSent(about=ref):
                yield from self._known(ref, ("about",))
            case CountIs():
                yield from self._count(a)
            case Foreign():
                yield from self._foreign(a)

    def _workload(self, a: WorkloadIs) -> Iterator[Finding]:
        if a.admittedBy is not None:
            yield from self._known(f"ClusterQueue/{a.admittedBy}", ("admittedBy",))
        for pod_set, per in (a.flavors or {}).items():
            for resource, flavor in per.items():
                if flavor not in self.flavors:
                    yield ("flavors", pod_set, resource), f"no ResourceFlavor {flavor}: add its manifest"
        manifest = self.manifests.get(f"Workload/{a.workload}")
        if manifest is None:
            return
        there = {p.get("name") for p in (manifest.get("spec") or {}).get("podSets") or ()}
        for key in ("flavors", "resourceUsage", "counts"):
            for pod_set in getattr(a, key) or {}:
                if pod_set not in there:
                    yield (key, pod_set), f"{a.workload} has no pod set {pod_set}"

    def _flavors(self, per: dict[str, dict[str, dict[str, str]]]) -> Iterator[Finding]:
        for key, flavors in per.items():
            for flavor in flavors:
                if flavor not in self.flavors:
                    yield (key, flavor), f"no ResourceFlavor {flavor}: add its manifest"

    def _count(self, a: CountIs) -> Iterator[Finding]:
        match a.count:
            case CountWorkloads(namespace=space, names=names):
                if space not in self.spaces:
                    yield ("count", "namespace"), f"no namespace {space}: add its manifest"
                for name in names or ():
                    yield from self._known(f"Workload/{space}/{name}", ("count", "names"))
            case CountWrites(ref=ref):
                yield from self._known(ref, ("count", "ref"))
            case evictions:
                if evictions.workload is not None:
                    yield from self._known(f"Workload/{evictions.workload}", ("count", "workload"))
                if evictions.workloadOf is not None:
                    yield from self._known(evictions.workloadOf, ("count", "workloadOf"))

    def _foreign(self, a: Foreign) -> Iterator[Finding]:
        said = a.model_extra or {}
        for key, kind in (("elasticQuota", "ElasticQuota"), ("node", "Node"), ("volcanoQueue", "Queue")):
            if key in said:
                yield from self._known(f"{kind}/{said[key]}", (key,))
        if "gang" in said:
            yield from self._known(said["gang"], ("gang",))
        for queue in (said.get("fairShare") or {}).get("queues", {}):
            yield from self._known(f"Queue/{queue}", ("fairShare", "queues", queue))
