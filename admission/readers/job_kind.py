"""JobKind JSON -> JobKind, and all that is wrong with one: the webhooks refuse what this reader cannot use."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from admission.api.field_errors import FieldError, child, duplicate, forbidden, invalid, required
from admission.model.job_kind import (
    Combined,
    ConditionTest,
    Elsewhere,
    Ending,
    Every,
    Expression,
    JobKind,
    JobKindRules,
    Place,
    PodSetRule,
    Stated,
    Step,
    Suspension,
    Test,
    ValueTest,
    Where,
)
from admission.model.kinds import KINDS, plural_of
from admission.readers.expressions import Expressions
from admission.readers.former_holds import former_holds, noted_hold
from admission.readers.metadata import read_conditions, read_metadata
from admission.readers.narrow import entries, is_mapping, items, mapping, text
from admission.readers.own_spec import spec_errors

_KIND = re.compile(r"(?P<kind>[A-Z][A-Za-z0-9]*)\.(?P<version>v[0-9]+((alpha|beta)[0-9]+)?)\.(?P<group>[a-z0-9.-]+)")
_GROUP = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_PLURAL = re.compile(r"[a-z][a-z0-9]*")
_ANNOTATION = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
# Webhooks are named by them, and the API server takes all of a configuration or nothing.
_LONGEST_KIND, _LONGEST_GROUP = 62, 160
_DEEPEST_HOLD = 16  # steps; webhooks compare the field in CEL, step by step. Kinds that were looked at need three
_LENDING = {
    "ref": "the path of what names that object in a job, like spec.runtimeRef",
    "kind": "the kind of that object, like Runtime.v1.experiments.example",
    "path": "where in that object the pod template is, like spec.template",
}
_STOPS = {"Delete": "Delete", "None": "Never"}


def read_job_kind(wire: Mapping[str, Any]) -> JobKind:
    """Total: any JSON object gives a JobKind; one that cannot be used has no rules and says why."""
    meta = read_metadata(wire)
    spec = mapping(wire.get("spec"))
    rules, errors = read_rules(wire)
    status = mapping(wire.get("status"))
    noted = noted_hold(status.get("hold"))
    plural = text(spec.get("plural"))
    kind = text(spec.get("kind"))
    return JobKind(
        name=meta.name,
        kind=_with_plural(kind, plural),
        uid=meta.uid,
        resource_version=meta.resource_version,
        generation=meta.generation,
        deleting=meta.deleting,
        rules=rules,
        problem="; ".join(str(error) for error in errors),
        conditions=read_conditions(status.get("conditions")),
        noted=noted,
        former=former_holds(status, noted, rules.suspension) if rules is not None else (),
    )


def read_rules(wire: Mapping[str, Any]) -> tuple[JobKindRules | None, list[FieldError]]:
    """What is known of jobs of the kind; None and the reasons where that cannot be used."""
    rules: JobKindRules | None = None

    def faults(spec: Mapping[str, Any]) -> list[FieldError]:
        nonlocal rules
        reading = _Reading(spec)
        rules = reading.rules()
        return reading.errors

    errors = spec_errors("JobKind", wire, faults)
    return (None, errors) if errors else (rules, [])


def _with_plural(kind: str, plural: str) -> str:
    usual = plural_of(kind.partition(".")[0])
    return f"{kind}:{plural}" if plural and plural != usual else kind


def kind_errors(wire: Mapping[str, Any], built_in: Mapping[str, object]) -> list[FieldError]:
    """Why the kind is none that a JobKind can describe. `built_in`: job kinds that need no description."""
    stated = text(mapping(wire.get("spec")).get("kind"))
    found = _KIND.fullmatch(stated)
    if found is None or not _GROUP.fullmatch(found["group"]):
        return []  # `read_rules` says so
    for name in built_in:
        known = KINDS[name]
        if (known.kind, known.group) == (found["kind"], found["group"]):
            return [invalid("spec.kind", stated, f"{name} of {known.group} is built in: it needs no JobKind")]
    return []


class _Reading(Expressions):
    """Of one spec whose structure is right."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        super().__init__()
        self._spec = spec

    def rules(self) -> JobKindRules:
        spec = self._spec
        self._kind("spec.kind", text(spec.get("kind")))
        self._plural("spec.plural", text(spec.get("plural")))
        finished = mapping(spec.get("finished"))
        suspension = self._suspension(mapping(spec.get("suspend")))
        pod_sets = self._pod_sets(entries(spec.get("podSets")))
        if suspension.path and any(place[: len(suspension.path)] == suspension.path for place in _places(pod_sets)):
            remedy = "says how many or which pods there are, too: who waits would ask for others than who runs"
            self.wrong("spec.suspend.path", mapping(spec.get("suspend")).get("path"), remedy)
        return JobKindRules(
            suspension=suspension,
            pod_sets=pod_sets,
            stop=_STOPS.get(text(spec.get("stop")), "Suspend"),  # type: ignore[arg-type]
            priority_class=self._one("spec.priorityClassName", spec.get("priorityClassName")),
            queue=self._one("spec.queue", spec.get("queue")),
            generated_labels=tuple(text(one) for one in items(spec.get("generatedLabels"))),
            started=self._test("spec.started", spec.get("started")),
            active=self._test("spec.active", spec.get("active")),
            pods_ready=self._test("spec.podsReady", spec.get("podsReady")),
            on_hold=self._test("spec.onHold", spec.get("onHold")),
            succeeded=self._ending("spec.finished.succeeded", finished.get("succeeded")),
            failed=self._ending("spec.finished.failed", finished.get("failed")),
        )

    def _kind(self, path: str, stated: str) -> None:
        found = _KIND.fullmatch(stated)
        if found is None or not _GROUP.fullmatch(found["group"]):
            remedy = "must be Kind.version.group, like Sweep.v1.experiments.example"
            self.wrong(path, stated, remedy)
        elif found["group"] in ("kueue.x-k8s.io", "lockgate.dev"):
            self.wrong(path, stated, "is no kind of job: name one that makes pods")
        elif len(found["kind"]) > _LONGEST_KIND:
            self.wrong(path, stated, f"the kind must have at most {_LONGEST_KIND} characters")
        elif len(found["group"]) > _LONGEST_GROUP or max(map(len, found["group"].split("."))) > 63:
            remedy = f"the group must have at most {_LONGEST_GROUP} characters, and 63 between dots"
            self.wrong(path, stated, remedy)

    def _plural(self, path: str, plural: str) -> None:
        if plural and not _PLURAL.fullmatch(plural):
            remedy = "must be the name of a resource, in lower case, like sweeps: see `kubectl api-resources`"
            self.wrong(path, plural, remedy)

    def _one(self, path: str, stated: object) -> Place | None:
        """A place that is a single field."""
        if stated is None:
            return None
        place = self.place(path, stated)
        return place if self.plain(path, stated, place, entries=True) else None

    def _suspension(self, stated: Mapping[str, Any]) -> Suspension:
        where, annotation = stated.get("path"), stated.get("annotation")
        path: tuple[str, ...] = ()
        if (where is None) == (annotation is None):
            remedy = "exactly one of path and annotation must name what keeps a job from starting"
            self.errors.append(required("spec.suspend", remedy))
        elif annotation is not None:
            path = ("metadata", "annotations", text(annotation))
            if not _ANNOTATION.fullmatch(text(annotation)):
                remedy = "must be the name of an annotation, like scheduling.example.com/suspend"
                self.wrong("spec.suspend.annotation", annotation, remedy)
            elif text(annotation).startswith("kueue.x-k8s.io/"):
                self.wrong("spec.suspend.annotation", annotation, "has a meaning of its own: name another annotation")
        else:
            place = self.place("spec.suspend.path", where)
            if self.plain("spec.suspend.path", where, place):
                path = tuple(str(step) for step in place.steps)
                self._holdable(where, path)
        held = True if stated.get("held") is None else stated["held"]
        if annotation is not None and stated.get("held") is None:
            held = "true"
        released = stated.get("released", (not held) if isinstance(held, bool) else None)
        for name, value in (("held", held), ("released", released)):
            self._fits(f"spec.suspend.{name}", value, annotation is not None)
        if held == released and type(held) is type(released):
            self.wrong("spec.suspend.released", released, "must differ from held")
        return Suspension(path, held, released, stated.get("whileSet") is True)

    def _holdable(self, where: object, path: tuple[str, ...]) -> None:
        inside = len(path) == 3 and path[1] in ("labels", "annotations") and not path[2].startswith("kueue.x-k8s.io/")
        if path[0] in ("apiVersion", "kind", "status") or (path[0] == "metadata" and not inside):
            remedy = "must lead to a field that the author of a job may set, like spec.suspend"
            self.wrong("spec.suspend.path", where, remedy)
        if len(path) > _DEEPEST_HOLD:
            self.wrong("spec.suspend.path", where, f"is more than {_DEEPEST_HOLD} fields deep")

    def _fits(self, path: str, value: object, annotation: bool) -> None:
        if isinstance(value, list | Mapping):
            self.wrong(path, value, "must be a text, a number, true, false or null")
        elif annotation and value is not None and not isinstance(value, str):
            self.errors.append(
                invalid(path, value, 'must be a text, as annotations are: write it in quotes, like "true"')
            )

    # --- pod sets

    def _pod_sets(self, stated: list[Mapping[str, Any]]) -> tuple[PodSetRule, ...]:
        found = tuple(self._pod_set(f"spec.podSets[{at}]", one) for at, one in enumerate(stated))
        seen: set[str] = set()
        made_from: dict[tuple[Place | None, Place], int] = {}
        for at, rule in enumerate(found):
            if rule.template is not None and not rule.bare:
                first = made_from.setdefault((rule.for_each, rule.template), at)
                if first != at:
                    where, remedy = f"spec.podSets[{at}].template", "who starts could not tell them apart: join both"
                    self.wrong(where, stated[at]["template"], f"is that of spec.podSets[{first}]; {remedy}")
            if rule.for_each is None and isinstance(rule.name, str) and rule.name:
                if rule.name in seen:
                    self.errors.append(duplicate(f"spec.podSets[{at}].name", rule.name))
                seen.add(rule.name)
        return found

    def _pod_set(self, path: str, stated: Mapping[str, Any]) -> PodSetRule:
        within = stated.get("forEach") is not None
        for_each = self._one(child(path, "forEach"), stated.get("forEach"))
        borrowed = is_mapping(stated.get("template"))
        elsewhere = self._elsewhere(path, stated, within) if borrowed else None
        template, bare = (None, False) if borrowed else self._template(path, stated, within)
        count = self.expression(child(path, "count"), stated.get("count"), within)
        minimum = self.expression(child(path, "minCount"), stated.get("minCount"), within)
        default = stated.get("default", 1)
        if minimum is not None and not self.one_field(count):
            remedy = "needs a count that is the path of one field: there the number goes with which the job starts"
            self.wrong(child(path, "minCount"), stated["minCount"], remedy)
        return PodSetRule(
            for_each=for_each,
            keys=tuple(text(key) for key in items(stated.get("keys"))),
            name=self._name(path, stated, within),
            count=default if count is None else count,
            default=default,
            min_count=minimum,
            template=template,
            bare=bare,
            elsewhere=elsewhere,
            requests={
                resource: found
                for resource, value in mapping(stated.get("requests")).items()
                if (found := self.quantity(f"{path}.requests[{resource}]", value, within)) is not None
            },
            container=text(stated.get("container")),
            optional=stated.get("optional") is True,
            reclaimable=self.expression(child(path, "reclaimable"), stated.get("reclaimable"), within),
        )

    def _template(self, path: str, stated: Mapping[str, Any], within: bool) -> tuple[Place | None, bool]:
        given = [name for name in ("template", "podSpec") if stated.get(name) is not None]
        if len(given) == 2:
            self.errors.append(forbidden(child(path, "podSpec"), "template says where the pods come from already"))
        if not given and not stated.get("requests"):
            remedy = "name the pod template; or podSpec, or requests, for a kind that has none"
            self.errors.append(required(child(path, "template"), remedy))
        if stated.get("optional") is True and not given:
            self.errors.append(forbidden(child(path, "optional"), "needs a template or podSpec that may be missing"))
        if not given:
            return None, False
        where = child(path, given[0])
        place = self.place(where, stated[given[0]], within)
        return (place if self.plain(where, stated[given[0]], place) else None), given[0] == "podSpec"

    def _elsewhere(self, path: str, stated: Mapping[str, Any], within: bool) -> Elsewhere | None:
        """A template in another object."""
        where, found = child(path, "template"), mapping(stated["template"])
        if stated.get("podSpec") is not None:
            self.errors.append(forbidden(child(path, "podSpec"), "template says where the pods come from already"))
        self._only(where, found, ("from",))
        at, said = child(where, "from"), found.get("from")
        if not is_mapping(said):
            remedy = "must be a path, or {from: {ref: …, kind: …, path: …}} where the template lies in another object"
            self.wrong(where, found, remedy)
            return None
        self._only(at, said, ("ref", "kind", "plural", "path"))
        missing = [name for name in ("ref", "kind", "path") if not isinstance(said.get(name), str) or not said[name]]
        if missing:
            self.errors += [required(child(at, name), _LENDING[name]) for name in missing]
            return None
        self._kind(child(at, "kind"), said["kind"])
        plural = text(said.get("plural"))
        if said.get("plural") is not None:
            self._plural(child(at, "plural"), plural or "?")
        if said["kind"] == self._spec.get("kind"):
            self.wrong(child(at, "kind"), said["kind"], "is the kind of the jobs themselves: name a path instead")
        ref, place = self.place(child(at, "ref"), said["ref"], within), self.place(child(at, "path"), said["path"])
        self.plain(child(at, "ref"), said["ref"], ref, entries=True)
        if any(step is Every.EVERY or (isinstance(step, Where) and step.value is None) for step in place.steps):
            self.wrong(child(at, "path"), said["path"], "must lead to one template: leave out [*] and [name=@name]")
        return Elsewhere(ref, _with_plural(said["kind"], plural), place, said["path"])

    def _only(self, path: str, stated: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for name in stated:
            if name not in known:
                self.errors.append(forbidden(child(path, name), f"unknown field: known there are {', '.join(known)}"))

    def _name(self, path: str, stated: Mapping[str, Any], within: bool) -> str | Place:
        name, where = stated.get("name"), child(path, "name")
        if stated.get("keys") is not None and not within:
            self.errors.append(forbidden(child(path, "keys"), "is for the map of a forEach"))
        if within:
            if name is None:
                return ""
            place = self.place(where, name, within)
            self.plain(where, name, place, entries=True)
            return place
        if name is None:
            self.errors.append(required(where, "name the pod set, like main or worker"))
        elif not re.fullmatch("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name):
            self.errors.append(
                invalid(where, name, "must be lower-case letters, digits and -, at most 63, like worker")
            )
        return text(name)

    # --- what the status means

    def _test(self, path: str, stated: Any) -> Test | None:
        if stated is None:
            return None
        asked = [name for name in ("in", "notIn", "atLeast", "exists") if stated.get(name) is not None]
        if stated.get("condition") is not None:
            for name in ("path", *asked):
                if stated.get(name) is not None:
                    self.errors.append(forbidden(child(path, name), "is asked of a path, not of a condition"))
            reasons = tuple(text(one) for one in items(stated.get("reasons")))
            return ConditionTest(text(stated["condition"]), text(stated.get("status"), "True"), reasons)
        alone = [name for name in ("status", "reasons") if stated.get(name) is not None]
        self.errors += [forbidden(child(path, name), "is asked of a condition, and there is none") for name in alone]
        if stated.get("path") is None:
            if not alone:
                self.errors.append(required(path, "name a condition, or a path and what its value must be"))
            return None
        if len(asked) != 1:
            remedy = "exactly one of in, notIn, atLeast and exists must say what the value must be"
            self.errors.append(required(path, remedy) if not asked else forbidden(child(path, asked[1]), remedy))
        of = self.expression(child(path, "path"), stated["path"])
        if of is not None and "atLeast" not in asked and not self.is_place(of):
            self.wrong(child(path, "path"), stated["path"], "must be a path: numbers are for atLeast")
        at_least = self.expression(child(path, "atLeast"), stated.get("atLeast"))
        values, others = (self._values(path, name, stated) if name in asked else None for name in ("in", "notIn"))
        return None if of is None else ValueTest(of, values, others, at_least, stated.get("exists"))

    def _values(self, path: str, name: str, stated: Mapping[str, Any]) -> tuple[Any, ...]:
        for at, value in enumerate(stated[name]):
            if value is None or isinstance(value, list | Mapping):
                self.wrong(f"{child(path, name)}[{at}]", value, "must be a text, a number, true or false")
        return tuple(stated[name])

    def _ending(self, path: str, stated: Any) -> Ending | None:
        test = self._test(path, stated)
        message = self._one(child(path, "message"), stated.get("message")) if stated is not None else None
        return None if test is None else Ending(test, message)


def _places(pod_sets: tuple[PodSetRule, ...]) -> Iterator[tuple[Step, ...]]:
    """Where a job says how many and which pods it has, from its manifest on."""
    for rule in pod_sets:
        around = rule.for_each.steps if rule.for_each is not None else ()
        stated = (rule.count, rule.min_count, *(one for one in rule.requests.values() if not isinstance(one, str)))
        found = [place for one in stated if one is not None for place in _stated(one)]
        named = rule.elsewhere.ref if rule.elsewhere is not None else None
        for place in (rule.for_each, rule.template, named, *found):
            if place is not None:
                yield (*around, *place.steps) if place.from_entry else place.steps


def _stated(expression: Expression) -> Iterator[Place]:
    if isinstance(expression, Stated):
        yield expression.place
    elif isinstance(expression, Combined):
        for part in expression.of:
            yield from _stated(part)
