"""Fields that a kind does not have: the API server would drop them without a word, and a plan built on them is wrong.

What it would drop of our kinds follows from their schemas; of Kubernetes' own kinds the outer fields are listed here.
Jobs and pod templates are another matter: see `misspelt`. A status is written by controllers, of whatever version: it
passes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from admission.api.crd import SERVED, STORED, schema_of
from admission.jobs.min_resources import MIN_RESOURCES
from admission.jobs.originals import ANNOTATION as BEFORE_START
from admission.model.names import ARRIVAL, RUNTIME
from admission.model.queue_policy import GROUPS, USER
from controller.cli.shapes import Fault
from controller.kit.documents import Path

Schema = Mapping[str, Any]

_PREFIX = "lockgate.dev/"
_ANNOTATIONS = (ARRIVAL, RUNTIME, MIN_RESOURCES, BEFORE_START, USER, GROUPS)
_OF_THE_CLUSTER = ("lockgate.dev/exit-code", "lockgate.dev/shutdown")  # of pods, in hack/cluster
_OPAQUE: Schema = {"x-kubernetes-preserve-unknown-fields": True}
_ROOT = ("apiVersion", "kind", "metadata", "status")


def _map_of(*names: str, **schemas: Schema) -> Schema:
    return {"properties": {**dict.fromkeys(names, _OPAQUE), **schemas}}


_KUBERNETES: Mapping[str, Schema] = {
    "Namespace": _map_of(spec=_map_of("finalizers")),
    "LimitRange": _map_of(spec=_map_of("limits")),
    "ConfigMap": _map_of("data", "binaryData", "immutable"),
    "RuntimeClass": _map_of("handler", "scheduling", overhead=_map_of("podFixed")),
    "PriorityClass": _map_of("value", "globalDefault", "description", "preemptionPolicy"),
}


def unknown_fields(kind: str, manifest: Mapping[str, Any], version: str = STORED) -> Iterator[Fault]:
    """A fault for each field that the kind does not have; what is below such a field is not looked at. `version`: of a
    kind of ours."""
    schema = schema_of(kind, version) if kind in SERVED else _KUBERNETES.get(kind)
    if schema is None:
        return
    known = [*dict.fromkeys((*_ROOT, *schema["properties"]))]
    for name, value in manifest.items():
        if name not in known:
            yield _unknown((name,), known)
        elif name not in _ROOT:
            yield from _below(schema["properties"][name], value, (name,))


def _below(schema: Schema, value: Any, path: Path) -> Iterator[Fault]:
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return
    if isinstance(value, Mapping):
        others, known = schema.get("additionalProperties"), schema.get("properties", {})
        for name, field in value.items():
            if isinstance(others, Mapping):
                yield from _below(others, field, (*path, name))
            elif name in known:
                yield from _below(known[name], field, (*path, name))
            elif not others:
                yield _unknown((*path, name), known)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _below(schema.get("items", {}), entry, (*path, index))


def _unknown(path: Path, known: Collection[str]) -> Fault:
    return Fault(path, None, "is not a field that is known there", _remedy(str(path[-1]), known))


def _remedy(name: str, known: Iterable[str], prefix: str = "") -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {prefix}{near[0]}?" if near else "remove it"


def odd_annotations(metadata: Mapping[str, Any]) -> Iterator[str]:
    """What to say of each annotation that has our prefix and that a simulation does not read."""
    for name in metadata.get("annotations") or {}:
        if name.startswith(_PREFIX) and name not in _ANNOTATIONS:
            # Compared without the prefix: it alone would make any two of them look alike.
            known = [one.removeprefix(_PREFIX) for one in _ANNOTATIONS]
            remedy = _remedy(name.removeprefix(_PREFIX), known, _PREFIX)
            if name in _OF_THE_CLUSTER:
                remedy = "only the test cluster does"
            yield f"has the annotation {name}, which a simulation does not read: {remedy}"
