"""What an ElasticQuota must not say, and when it must stay: by itself, beside others, and in its tree.

Facts: Koordinator 1.7. There, max keys may be missing in a parent's min and a quota may lose its children unseen; here
both are refused.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from admission.api.documents import Document, whole
from admission.api.field_errors import FieldError, forbidden, invalid, key, not_found
from admission.model import elastic_quota as words
from admission.model.amounts import BadQuantity, exact, text
from admission.model.elastic_quota import Bindings, ElasticQuota, Units
from admission.readers.elastic_quota import read_elastic_quota
from admission.readers.narrow import mapping
from admission.validation.syntax import IMMUTABLE

HasPods = Callable[[str], bool]


def check_elastic_quota(
    document: Document, before: Document | None, others: Bindings, has_pods: HasPods
) -> list[FieldError]:
    """Of a new or changed one. `has_pods`: whether any pod names the quota. Raises Unreadable."""
    wire = whole(document)
    quota = read_elastic_quota(wire)
    old = read_elastic_quota(whole(before)) if before is not None else None
    if quota.deleting or (before is not None and old is not None and _same(wire, quota, whole(before), old)):
        return []
    if old is not None and quota.name in (words.ROOT, words.SYSTEM):
        return [forbidden("metadata.name", f"{quota.name} is built in and must stay as it is")]
    return list(_by_itself(wire, quota, old)) or [
        *_beside(quota, others),
        *_in_its_tree(quota, old, others, has_pods),
    ]


def check_deletion(document: Document, others: Bindings, has_pods: HasPods) -> list[FieldError]:
    """Of one that is to go. Raises Unreadable."""
    quota = read_elastic_quota(whole(document))
    if quota.name in words.BUILT_IN:
        return [forbidden("metadata.name", f"{quota.name} is built in and can not be deleted")]
    children = _children(quota, others)
    if children:
        return [forbidden("metadata.name", f"quota has children, delete them first: {_listed(children)}")]
    counts = others.by_name.get(quota.name, quota)
    if counts.key == quota.key and has_pods(quota.name):
        said = f"quota has pods: delete those with the label {words.QUOTA_NAME}={quota.name} first"
        return [forbidden("metadata.name", said)]
    return []


def validate_pod_quota(
    labels: Mapping[str, str], before: Mapping[str, str] | None, namespace: str, quotas: Bindings
) -> list[FieldError]:
    """Of a pod's labels. `before`: as they were; None: it is new."""
    if before is not None:
        said, was = labels.get(words.PREEMPTIBLE), before.get(words.PREEMPTIBLE)
        return [invalid(key("metadata.labels", words.PREEMPTIBLE), said, IMMUTABLE)] if said != was else []
    named = labels.get(words.QUOTA_NAME, "")
    quota = quotas.by_name.get(quotas.quota_of(named, namespace))
    if quota is None or not quota.is_parent:
        return []
    why = "" if named else f", to which namespace {namespace} is bound"
    told = f"pod can not be linked to a parentQuotaGroup: name a child of {quota.name}{why}"
    return [invalid(key("metadata.labels", words.QUOTA_NAME), quota.name, told)]


def _same(wire: Mapping[str, Any], quota: ElasticQuota, before: Mapping[str, Any], old: ElasticQuota) -> bool:
    """Nothing of it moved that is judged: whatever has been wrong with it for long must not hold up others' writes."""
    return wire.get("spec") == before.get("spec") and _noted(quota) == _noted(old)


def _noted(quota: ElasticQuota) -> tuple[object, ...]:
    tree = (quota.parent, quota.is_parent, quota.is_root, quota.tree)
    return (*tree, quota.namespaces, quota.weight, quota.problems)


def _by_itself(wire: Mapping[str, Any], quota: ElasticQuota, old: ElasticQuota | None) -> Iterator[FieldError]:
    spec = mapping(wire.get("spec"))
    stated = {field: _exact(mapping(spec.get(field))) for field in ("max", "min")}
    for field, amounts in stated.items():
        for resource in [resource for resource, value in amounts.items() if value < 0]:
            told = f"{quota.name} quota.Spec.{field.title()}'s value < 0, in dimensions :[{resource}]"
            yield invalid(key(f"spec.{field}", resource), spec[field][resource], told)
    for problem in quota.problems:
        path, _, told = problem.partition(": ")
        yield invalid(path, _at(wire, path), told)
    for resource, least in stated["min"].items():
        most = stated["max"].get(resource)
        path, value = key("spec.min", resource), spec["min"][resource]
        if most is None:
            told = f"resourceKey {resource} of quota {quota.name} has a min, which is not included in max"
            yield invalid(path, value, told)
        elif least > most:
            told = f"resourceKey {resource} of quota {quota.name} has a min above its max, {spec['max'][resource]}"
            yield invalid(path, value, told)
    if old is not None:
        yield from _below_use(wire, quota)


def _below_use(wire: Mapping[str, Any], quota: ElasticQuota) -> Iterator[FieldError]:
    used = _exact(mapping(mapping(wire.get("status")).get("used")))
    notes = mapping(mapping(wire.get("metadata")).get("annotations"))
    for resource, most in _exact(mapping(mapping(wire.get("spec")).get("max"))).items():
        if resource in strict_keys(notes.get(words.STRICT_KEYS)) and used.get(resource, Fraction(0)) > most:
            told = f"{quota.name} uses more of {resource} now, and {words.STRICT_KEYS} lists it"
            yield invalid(key("spec.max", resource), wire["spec"]["max"][resource], told)


def strict_keys(stated: object) -> tuple[str, ...]:
    """Resources of which `max` must not fall below what is used: as a JSON list, or with commas between them."""
    return tuple(part.strip(' []"') for part in stated.split(",")) if isinstance(stated, str) else ()


def _beside(quota: ElasticQuota, others: Bindings) -> Iterator[FieldError]:
    other = others.by_name.get(quota.name)
    if other is not None and other.key != quota.key:
        yield invalid("metadata.name", quota.name, f"names are unique over all namespaces: {other.key} has this one")
    for namespace in quota.namespaces:
        taken = [one.name for one in _rest(quota, others) if namespace in one.namespaces]
        if taken:
            told = f"namespace {namespace} is bound to quota {taken[0]} already"
            yield invalid(key("metadata.annotations", words.NAMESPACES), namespace, told)


def _in_its_tree(
    quota: ElasticQuota, old: ElasticQuota | None, others: Bindings, has_pods: HasPods
) -> Iterator[FieldError]:
    children = _children(quota, others)
    label = key("metadata.labels", words.IS_PARENT)
    if children and not quota.is_parent:
        yield invalid(label, "false", f"quota has children, it has to stay a parent: {_listed(children)}")
        return
    if old is not None and quota.is_parent and not old.is_parent and has_pods(quota.name):
        yield invalid(
            label, "true", f"quota has pods, and a parent holds none: move those that name {quota.name} first"
        )
    if old is not None and quota.tree != old.tree:
        yield invalid(key("metadata.labels", words.TREE), quota.tree, IMMUTABLE)
    if quota.name == words.ROOT or (not quota.is_parent and quota.parent == words.ROOT):
        return
    parent = others.by_name.get(quota.parent) if quota.parent not in ("", words.ROOT) else None
    if parent is None and quota.parent not in ("", words.ROOT):
        yield not_found(key("metadata.labels", words.PARENT), quota.parent)
    elif parent is not None and quota.name in _line(parent, others):
        yield invalid(key("metadata.labels", words.PARENT), parent.name, f"{parent.name} is below {quota.name} itself")
    elif parent is not None:
        yield from _below(quota, parent, [one for one in _children(parent, others) if one.name != quota.name])
    yield from _above(quota, children)


def _below(quota: ElasticQuota, parent: ElasticQuota, siblings: list[ElasticQuota]) -> Iterator[FieldError]:
    label = key("metadata.labels", words.PARENT)
    if not parent.is_parent:
        yield invalid(label, parent.name, f"quota {parent.name} is no parent: it has no label {words.IS_PARENT}=true")
    yield from _alike(quota, parent)
    short = [resource for resource in quota.min if resource not in parent.min]
    if short:
        told = f"min keys are not all included in those of parent {parent.name}, which has no {', '.join(short)}"
        yield invalid("spec.min", dict(_written(quota.min)), told)
    elif not quota.forced:
        yield from _sums(quota.name, [*siblings, quota], parent)


def _above(quota: ElasticQuota, children: list[ElasticQuota]) -> Iterator[FieldError]:
    for child in children:
        yield from _alike(quota, child)
    if children and not quota.is_root and not quota.forced:
        yield from _sums(quota.name, children, quota)


def _alike(quota: ElasticQuota, relative: ElasticQuota) -> Iterator[FieldError]:
    if quota.tree != relative.tree:
        told = f"must be that of {relative.name} in the same tree, {relative.tree!r}"
        yield invalid(key("metadata.labels", words.TREE), quota.tree, told)
    if quota.max.keys() != relative.max.keys():
        told = f"its keys must be those of {relative.name} in the same tree: {', '.join(relative.max)}"
        yield invalid("spec.max", dict(_written(quota.max)), told)


def _sums(name: str, children: list[ElasticQuota], parent: ElasticQuota) -> Iterator[FieldError]:
    if parent.is_root:
        return  # what a tree has follows from its nodes
    for resource in parent.max:
        whole = sum(child.min.get(resource, 0) for child in children)
        has = parent.min.get(resource, 0)
        if whole > has:
            told = (
                f"quota {name}: all children's MinQuota > parent MinQuota: {text(resource, whole)} of {resource} "
                f"below {parent.name}, whose min is {text(resource, has)}"
            )
            mine = next((child.min.get(resource, 0) for child in children if child.name == name), has)
            yield invalid(key("spec.min", resource), text(resource, mine), told)


def _line(quota: ElasticQuota, others: Bindings) -> list[str]:
    """The quota and all above it."""
    names = [quota.name]
    above = others.by_name.get(quota.parent)
    while above is not None and above.name not in names:
        names.append(above.name)
        above = others.by_name.get(above.parent)
    return names


def _children(quota: ElasticQuota, others: Bindings) -> list[ElasticQuota]:
    return [one for one in _rest(quota, others) if one.parent == quota.name]


def _rest(quota: ElasticQuota, others: Bindings) -> list[ElasticQuota]:
    return [one for name, one in sorted(others.by_name.items()) if name != quota.name]


def _listed(quotas: list[ElasticQuota]) -> str:
    names = [quota.name for quota in quotas]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _written(units: Units) -> Iterator[tuple[str, str]]:
    return ((resource, text(resource, units[resource])) for resource in sorted(units))


def _exact(stated: Mapping[str, Any]) -> dict[str, Fraction]:
    """What is no quantity is told elsewhere."""
    found = {}
    for resource, value in stated.items():
        try:
            found[resource] = exact(str(value))
        except BadQuantity:
            continue
    return found


def _at(wire: Mapping[str, Any], path: str) -> object:
    """The value at `spec.min[cpu]` or `metadata.annotations[name]`."""
    field, _, name = path.partition("[")
    where: Any = wire
    for part in field.split("."):
        where = mapping(where).get(part)
    return mapping(where).get(name.rpartition("]")[0].partition("]")[0])
