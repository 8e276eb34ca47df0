"""Pod template -> PodSet: requests, shape, and what decides on which nodes it may run. The template itself is dropped.

Of `template.metadata` only what asks for a share of a GPU is looked at, and whose template it is, so that jobs that
differ in nothing but generated labels share one PodSet.
"""

from collections.abc import Mapping
from typing import Any

from admission.model.accelerators import ANNOTATIONS
from admission.model.pods import PodResources
from admission.model.template_source import TEMPLATE_OF
from admission.model.workload import NodeRule, PodSet, Toleration
from admission.readers.narrow import entries, integer, mapping, maybe_integer, strings, text, tuple_of, word, words
from admission.readers.pod_resources import stated_by
from admission.readers.pool import Pool
from admission.readers.shape import shape_of

_REMEMBERED = 8192  # shapes alive at a time: a few MiB, more than clusters with generated jobs were seen to have
_TOO_DEEP = PodResources(faults=(": is nested too deeply to be read: flatten its fields",))

_pod_sets: Pool[PodSet] = Pool(_REMEMBERED)


def read_pod_set(wire: Mapping[str, Any]) -> PodSet:
    """An entry of a Workload's `spec.podSets`."""
    return pod_set(
        text(wire.get("name"), "main"),
        wire.get("template"),
        max(integer(wire.get("count"), 1), 0),
        maybe_integer(wire.get("minCount")),
    )


def pod_set(name: str, template: object, count: int, min_count: int | None = None) -> PodSet:
    """`count` pods of a template."""
    stated = mapping(template)
    pod, notes = mapping(stated.get("spec")), mapping(mapping(stated.get("metadata")).get("annotations"))
    shared, whose = _shared(notes), word(notes.get(TEMPLATE_OF)) if notes else ""
    try:
        return _pod_sets.of(
            [name, count, min_count, pod, *shared, whose], lambda: _read(name, pod, shared, whose, count, min_count)
        )
    except RecursionError:
        return PodSet(name, count, {}, min_count, pod=_TOO_DEEP)


def _shared(notes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The annotations that ask for a share of a GPU."""
    if not notes:
        return []
    return [(name, note) for name in ANNOTATIONS if isinstance(note := notes.get(name), str)]


def _read(
    name: str, pod: Mapping[str, Any], shared: list[tuple[str, str]], whose: str, count: int, min_count: int | None
) -> PodSet:
    stated = stated_by(pod, shared)
    selector, affinity, tolerations = pod.get("nodeSelector"), pod.get("affinity"), pod.get("tolerations")
    return PodSet(
        name=word(name),
        count=count,
        requests=stated.requests,
        min_count=min_count,
        node_selector=tuple(sorted(strings(selector).items())) if selector else (),
        affinity=_required_terms(affinity) if affinity else (),
        tolerations=tuple_of(read_toleration, tolerations) if tolerations else (),
        shape=shape_of(pod, shared),
        priority_class=text(pod.get("priorityClassName")),
        template_of=whose,
        pod=stated.pod,
    )


def _required_terms(stated: object) -> tuple[tuple[NodeRule, ...], ...]:
    # matchFields name single nodes, of which flavors know nothing: such a term keeps its place with fewer rules, or
    # none, and so rules out no flavor.
    affinity = mapping(mapping(stated).get("nodeAffinity"))
    required = mapping(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    terms = entries(required.get("nodeSelectorTerms"))
    return tuple(tuple_of(_read_rule, term.get("matchExpressions")) for term in terms)


def _read_rule(wire: Mapping[str, Any]) -> NodeRule:
    return NodeRule(word(wire.get("key")), word(wire.get("operator")), words(wire.get("values")))


def read_toleration(wire: Mapping[str, Any]) -> Toleration:
    """A missing operator is Equal, as the scheduler has it."""
    return Toleration(
        key=word(wire.get("key")),
        operator=word(wire.get("operator")) or "Equal",
        value=word(wire.get("value")),
        effect=word(wire.get("effect")),
        seconds=maybe_integer(wire.get("tolerationSeconds")),
    )
