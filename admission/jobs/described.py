"""A kind that a JobKind object describes, as a descriptor: its jobs are treated like those of kinds built in."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from admission.api.field_errors import child, duplicate, invalid, required
from admission.jobs.descriptor import Descriptor, Manifest
from admission.jobs.expressions import Scope, condition, count, holds, number
from admission.jobs.hold import Former, Hold
from admission.jobs.places import Path, value_at
from admission.jobs.reading import Facts
from admission.jobs.template_sources import Loan, TemplateSources, lent, names_one
from admission.jobs.templated import PodGroup, Templated, shown
from admission.model.job import Borrowed, JobEnd
from admission.model.job_kind import (
    ConditionTest,
    Elsewhere,
    Ending,
    Expression,
    FormerHold,
    JobKindRules,
    Place,
    PodSetRule,
    Stated,
    Suspension,
)
from admission.model.kinds import kind_of
from admission.model.template_source import TEMPLATE_OF
from admission.readers.narrow import entries, is_mapping, items, mapping, text

MOST_POD_SETS = 18  # of a Workload
_DIGEST = 12  # hex digits: it is compared with the last one of the same kind alone
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # what a pod set may be called


def described(
    kind: str, rules: JobKindRules, sources: TemplateSources | None = None, former: Sequence[FormerHold] = ()
) -> Descriptor:
    """The descriptor of a kind. `kind`: as in `Ref.kind`; `sources`: templates in other objects, now and later.
    Without, nothing is known of those. `former`: what else may hold its jobs."""
    hold = _hold(rules.suspension)
    kinds = _Described(rules, hold, sources or TemplateSources())
    left = tuple(Former(_hold(one.suspension), one.until) for one in former)
    # Another release may write the rules differently: then jobs are looked at as if their kind was described anew.
    digest = hashlib.sha256(repr(rules.pod_sets).encode()).hexdigest()[:_DIGEST]
    return Templated(kind, hold, kinds.groups, kinds.facts, rules.stop, rules.generated_labels, left, digest)


def _hold(stated: Suspension) -> Hold:
    return Hold(stated.path, stated.held, stated.released, stated.while_set)


def lenders(rules: JobKindRules) -> tuple[Elsewhere, ...]:
    """Where templates of its jobs lie in other objects."""
    return tuple(rule.elsewhere for rule in rules.pod_sets if rule.elsewhere is not None)


@dataclass(frozen=True, slots=True)
class _Found:
    """A pod set in a manifest: its rule, where its entry is, and what another object lends it."""

    rule: PodSetRule
    scope: Scope
    loan: Loan | None = None


@dataclass(frozen=True, slots=True)
class _Described:
    rules: JobKindRules
    hold: Hold
    sources: TemplateSources

    def groups(self, manifest: Manifest) -> list[PodGroup]:
        return [_group(one) for one in self._found(manifest)]

    def facts(self, manifest: Manifest, groups: Sequence[PodGroup]) -> Facts:
        rules, scope = self.rules, Scope(manifest)
        started = holds(rules.started, scope)
        return Facts(
            active=started if rules.active is None else holds(rules.active, scope),
            end=_end(rules.succeeded, True, scope) or _end(rules.failed, False, scope),
            pods_ready=started if rules.pods_ready is None else holds(rules.pods_ready, scope),
            reclaimable=self._reclaimable(manifest),
            started=started,
            on_hold=holds(rules.on_hold, scope) or self.hold.is_foreign(manifest),
            pod_priority_class=_word(rules.priority_class, scope),
            queue_hint=_word(rules.queue, scope),
            problem=self._problem(manifest, groups),
        )

    def _found(self, manifest: Manifest) -> list[_Found]:
        """One more than a Workload can have, at most: a list without end shall keep nobody busy."""
        found = (_Found(rule, scope) for rule in self.rules.pod_sets for scope in _scopes(rule, manifest))
        there = (one for one in found if not (one.rule.optional and _is_left_out(one)))
        return [self._with_loan(one) for one in islice(there, MOST_POD_SETS + 1)]

    def _with_loan(self, one: _Found) -> _Found:
        elsewhere = one.rule.elsewhere
        return one if elsewhere is None else replace(one, loan=lent(elsewhere, one.scope, self.sources))

    def _reclaimable(self, manifest: Manifest) -> dict[str, int]:
        needless = {}
        for one in self._found(manifest):
            pods = number(one.rule.reclaimable, one.scope) if one.rule.reclaimable is not None else None
            if pods is not None and pods > 0:
                needless[one.scope.name.lower()] = min(pods, _count(one))
        return needless

    def _problem(self, manifest: Manifest, groups: Sequence[PodGroup]) -> str:
        found = self._found(manifest)
        if not found:
            rule = self.rules.pod_sets[0]
            at = rule.elsewhere.ref if rule.elsewhere is not None else rule.template
            place = rule.for_each or at or Place(("spec",))
            return str(required(shown(Scope(manifest).path(place)), "the job has no pods that could be counted"))
        if len(found) > MOST_POD_SETS:
            return f"has more than the {MOST_POD_SETS} pod sets that a Workload can have: join some"
        taken: set[str] = set()
        for one, group in zip(found, groups, strict=True):
            if wrong := _wrong(one, group, group.name in taken):
                return wrong
            taken.add(group.name)
        return ""


def _scopes(rule: PodSetRule, manifest: Manifest) -> Iterator[Scope]:
    """Where the pod sets of a rule are: one, or one for each entry."""
    if rule.for_each is None:
        yield Scope(manifest, name=text(rule.name))
        return
    at = Scope(manifest).path(rule.for_each)
    there = value_at(manifest, at)
    keyed: list[tuple[str | int, object]]
    if is_mapping(there):
        # Operators that have such maps take their keys however the letters are cased.
        places = {key.lower(): place for place, key in enumerate(rule.keys)}
        ordered = sorted(there, key=lambda key: (places.get(key.lower(), len(places)), key))
        keyed = [(key, there[key]) for key in ordered]
    else:
        keyed = list(enumerate(items(there)))
    for key, entry in keyed:
        if is_mapping(entry):
            scope = Scope(manifest, entry, (*at, key))
            stated = scope.value(rule.name) if isinstance(rule.name, Place) else key
            yield replace(scope, name=text(stated))


def _is_left_out(one: _Found) -> bool:
    if one.rule.elsewhere is not None:
        return not names_one(one.rule.elsewhere, one.scope)
    return _template(one) is None


def _group(one: _Found) -> PodGroup:
    rule, scope, loan = one.rule, one.scope, one.loan
    least = number(rule.min_count, scope) if rule.min_count is not None else None
    said_at = rule.elsewhere.ref if rule.elsewhere is not None else rule.template
    at = scope.path(said_at) if said_at is not None else ()
    source = loan.source if loan is not None else None
    template = _template(one) or {}
    return PodGroup(
        name=scope.name.lower(),
        count=_count(one),
        template=_requesting(template, one) if rule.requests else template,
        at=at,
        min_count=least if least is not None and least > 0 else None,
        count_at=_field(rule.count, scope),
        form="nothing" if rule.template is None else "spec" if rule.bare else "template",
        borrowed=Borrowed(scope.name.lower(), source, loan.template is not None) if loan and source else None,
    )


def _count(one: _Found) -> int:
    return count(one.rule.count, one.scope, one.rule.default)


def _field(expression: Expression, scope: Scope) -> Path | None:
    return scope.path(expression.place) if isinstance(expression, Stated) else None


def _template(one: _Found) -> Mapping[str, Any] | None:
    """As it lies there; None where nothing does."""
    if one.loan is not None:
        return _marked(one.loan)
    if one.rule.template is None:
        return {}
    found = one.scope.value(one.rule.template)
    if not is_mapping(found):
        return None
    return {"spec": found} if one.rule.bare else found


def _marked(loan: Loan) -> Mapping[str, Any] | None:
    """A Workload says of such a template whose it is: nothing can be put into it."""
    if loan.template is None or loan.source is None:
        return None
    metadata = mapping(loan.template.get("metadata"))
    whose = f"{kind_of(loan.source.kind).kind}/{loan.source.name}"
    annotations = {**mapping(metadata.get("annotations")), TEMPLATE_OF: whose}
    return {**loan.template, "metadata": {**metadata, "annotations": annotations}}


def _requesting(template: Mapping[str, Any], one: _Found) -> dict[str, Any]:
    """The template with what its pods request by other fields of the kind."""
    asked = _asked(one)
    spec = mapping(template.get("spec"))
    containers: list[Mapping[str, Any]] = entries(spec.get("containers"))
    wanted = one.rule.container or (text(containers[0].get("name")) if containers else "main")
    if not any(container.get("name") == wanted for container in containers):
        containers = [*containers, {"name": wanted}]
    made = [_with_requests(each, asked) if each.get("name") == wanted else each for each in containers]
    return {**template, "spec": {**spec, "containers": made}}


def _asked(one: _Found) -> dict[str, object]:
    """What the job says by resource, of what its pods request outside of their template."""
    stated = {resource: _quantity(value, one.scope) for resource, value in one.rule.requests.items()}
    return {resource: amount for resource, amount in stated.items() if amount is not None}


def _with_requests(container: Mapping[str, Any], asked: Mapping[str, object]) -> dict[str, Any]:
    resources = mapping(container.get("resources"))
    requests = {**mapping(resources.get("requests")), **asked}
    return {**container, "resources": {**resources, "requests": requests}}


def _quantity(value: Expression | str, scope: Scope) -> object:
    """As it is stated, for whoever reads pod templates to judge."""
    if isinstance(value, Stated):
        return scope.value(value.place)
    return value if isinstance(value, str) else None


def _wrong(one: _Found, group: PodGroup, taken: bool) -> str:
    """Why no Workload can be made of such a pod set, or ""."""
    rule, scope = one.rule, one.scope
    named = scope.path(rule.name) if isinstance(rule.name, Place) else scope.at
    if not group.name:
        return str(required(shown(named), "name the pods, like worker"))
    if not _LABEL.fullmatch(group.name):
        why = "must consist of at most 63 letters, digits and '-', and start and end with a letter or digit"
        return str(invalid(shown(named), scope.name, why))
    if taken:
        return str(duplicate(shown(named), scope.name))
    if one.loan is not None and one.loan.problem is not None:
        return str(one.loan.problem)
    if _template(one) is None or (not rule.requests and not is_mapping(group.template.get("spec"))):
        where = shown(group.at)
        return str(required(where if rule.bare else child(where, "spec"), f"pods of {group.name} have no template"))
    if rule.template is None and one.loan is None and not _asked(one):  # it would take no quota at all
        (place, *_) = [value.place for value in rule.requests.values() if isinstance(value, Stated)]
        return str(required(shown(scope.path(place)), f"pods of {group.name} must request something"))
    return ""


def _word(place: Place | None, scope: Scope) -> str:
    return text(scope.value(place)) if place is not None else ""


def _end(ending: Ending | None, succeeded: bool, scope: Scope) -> JobEnd | None:
    if ending is None or not holds(ending.test, scope):
        return None
    message = _word(ending.message, scope)
    if not message and isinstance(ending.test, ConditionTest):
        found = condition(ending.test, scope.manifest)
        message = found.message if found is not None else ""
    return JobEnd(succeeded, message)
