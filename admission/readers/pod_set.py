"""Pod template -> PodSet: requests, shape, and what decides on which nodes it may run. The template itself is dropped.

Only `template.spec` is looked at, so that jobs that differ in nothing but generated labels share one PodSet.
"""

from collections.abc import Mapping
from typing import Any

from admission.api.field_errors import FieldError
from admission.model.workload import NodeRule, PodSet, Toleration
from admission.readers.narrow import entries, integer, mapping, maybe_integer, strings, text, tuple_of, word, words
from admission.readers.pod_requests import pod_requests
from admission.readers.pool import Pool
from admission.readers.shape import shape_of

_REMEMBERED = 8192  # shapes alive at a time: a few MiB, more than clusters with generated jobs were seen to have

_pod_sets: Pool[PodSet] = Pool(_REMEMBERED)


def read_pod_set(wire: Mapping[str, Any], index: int = 0) -> PodSet:
    """Entry `index` of a Workload's `spec.podSets`."""
    return pod_set(
        text(wire.get("name"), "main"),
        wire.get("template"),
        max(integer(wire.get("count"), 1), 0),
        maybe_integer(wire.get("minCount")),
        index,
    )


def pod_set(name: str, template: object, count: int, min_count: int | None = None, index: int = 0) -> PodSet:
    """`count` pods of a template. `index`: its place in `spec.podSets`, which its problem is named by."""
    pod = mapping(mapping(template).get("spec"))
    path = f"spec.podSets[{index}].template.spec"
    try:
        return _pod_sets.of([path, name, count, min_count, pod], lambda: _read(name, pod, count, min_count, path))
    except RecursionError:
        problem = f"{path}: is nested too deeply to be read: flatten its fields"
        return PodSet(name, count, {}, min_count, problem=problem)


def _read(name: str, pod: Mapping[str, Any], count: int, min_count: int | None, path: str) -> PodSet:
    asked = pod_requests(pod, path)
    return PodSet(
        name=word(name),
        count=count,
        requests=asked.requests,
        min_count=min_count,
        node_selector=tuple(sorted(strings(pod.get("nodeSelector")).items())),
        affinity=_required_terms(pod),
        tolerations=tuple_of(read_toleration, pod.get("tolerations")),
        shape=shape_of(pod),
        priority_class=text(pod.get("priorityClassName")),
        problem=_sentence(asked.errors),
    )


def _required_terms(pod: Mapping[str, Any]) -> tuple[tuple[NodeRule, ...], ...]:
    # matchFields name single nodes, of which flavors know nothing: such a term keeps its place with fewer rules, or
    # none, and so rules out no flavor.
    affinity = mapping(mapping(pod.get("affinity")).get("nodeAffinity"))
    required = mapping(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    terms = entries(required.get("nodeSelectorTerms"))
    return tuple(tuple_of(_read_rule, term.get("matchExpressions")) for term in terms)


def _read_rule(wire: Mapping[str, Any]) -> NodeRule:
    return NodeRule(word(wire.get("key")), word(wire.get("operator")), words(wire.get("values")))


def _sentence(errors: list[FieldError]) -> str:
    # Several errors in brackets, as Kubernetes aggregates them.
    if len(errors) > 1:
        return f"[{', '.join(str(error) for error in errors)}]"
    return str(errors[0]) if errors else ""


def read_toleration(wire: Mapping[str, Any]) -> Toleration:
    """A missing operator is Equal, as the scheduler has it."""
    return Toleration(
        key=word(wire.get("key")),
        operator=word(wire.get("operator")) or "Equal",
        value=word(wire.get("value")),
        effect=word(wire.get("effect")),
        seconds=maybe_integer(wire.get("tolerationSeconds")),
    )
