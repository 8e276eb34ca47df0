"""What the API server itself would refuse in kinds that are not ours: wrong types, negative counts and quantities.

Only the fields that a decision reads, and what stands around them; everything else passes untouched.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from admission.model.amounts import BadQuantity, exact
from admission.model.durations import BadDuration, duration
from admission.model.names import ARRIVAL, RUNTIME
from controller.kit.documents import Path


class Fault(NamedTuple):
    path: Path
    value: Any
    problem: str
    remedy: str


Shape = Callable[[Any, Path], Iterator[Fault]]

_INT32 = 2**31 - 1


def _kind_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "a map"


def text(value: Any, path: Path) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield Fault(path, value, f"is {_kind_of(value)}, not a string", "quote it")


def truth(value: Any, path: Path) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield Fault(path, value, f"is {_kind_of(value)}, not a boolean", "write true or false")


def whole(least: int = 0) -> Shape:
    def check(value: Any, path: Path) -> Iterator[Fault]:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            yield Fault(path, value, f"is {_kind_of(value)}, not a whole number", f"write a number from {least}")
        elif not least <= value <= _INT32:
            yield Fault(path, value, f"is not between {least} and {_INT32}", "write a number in that range")

    return check


def quantity(value: Any, path: Path) -> Iterator[Fault]:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        yield Fault(path, value, f"is {_kind_of(value)}, not a quantity", "write it like 500m, 2 or 1Gi")
        return
    try:
        size = exact(str(value))
    except BadQuantity:
        yield Fault(path, value, "is not a quantity", "write a number with an optional suffix, like 500m, 2 or 1Gi")
        return
    if size < 0:
        yield Fault(path, value, "is negative", "write a quantity from 0")


def span(value: Any, path: Path) -> Iterator[Fault]:
    try:
        duration(value)
    except (BadDuration, AttributeError, TypeError):
        yield Fault(path, value, "is not a duration", "write a quoted duration like 90s, 10m or 1h30m")


def fields(known: Mapping[str, Shape], required: tuple[str, ...] = ()) -> Shape:
    """A map whose known fields have these shapes; null stands for absent."""

    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(path, value, f"is {_kind_of(value)}, not a map", "write its fields below it")
            return
        for name in required:
            if value.get(name) in (None, ""):
                yield Fault((*path, name), None, "is missing", "add it")
        for name, shape in known.items():
            if value.get(name) is not None:
                yield from shape(value[name], (*path, name))

    return check


def every(shape: Shape) -> Shape:
    """A list of such values."""

    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield Fault(path, value, f"is {_kind_of(value)}, not a list", "write its entries with leading dashes")
            return
        for index, one in enumerate(value):
            yield from shape(one, (*path, index))

    return check


def table(shape: Shape) -> Shape:
    """A map from names to such values."""

    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(path, value, f"is {_kind_of(value)}, not a map", "write `name: value` lines below it")
            return
        for name, one in value.items():
            yield from shape(one, (*path, name))

    return check


def _annotations(value: Any, path: Path) -> Iterator[Fault]:
    yield from table(text)(value, path)
    if isinstance(value, dict):
        for name in (ARRIVAL, RUNTIME):
            if isinstance(value.get(name), str):
                yield from span(value[name], (*path, name))


METADATA = fields(
    {
        "name": text,
        "generateName": text,
        "namespace": text,
        "uid": text,
        "labels": table(text),
        "annotations": _annotations,
        "finalizers": every(text),
        "ownerReferences": every(
            fields({"kind": text, "name": text, "uid": text, "controller": truth}, ("kind", "name"))
        ),
    }
)
_RESOURCES = fields({"requests": table(quantity), "limits": table(quantity)})
_CONTAINER = fields({"name": text, "image": text, "restartPolicy": text, "resources": _RESOURCES}, ("name",))
_RULE = fields({"key": text, "operator": text, "values": every(text)}, ("key", "operator"))
_NODE_TERM = fields({"matchExpressions": every(_RULE), "matchFields": every(_RULE)})
_AFFINITY = fields(
    {
        "nodeAffinity": fields(
            {"requiredDuringSchedulingIgnoredDuringExecution": fields({"nodeSelectorTerms": every(_NODE_TERM)})}
        )
    }
)
_TOLERATION = fields({"key": text, "operator": text, "value": text, "effect": text})
_POD = fields(
    {
        "containers": every(_CONTAINER),
        "initContainers": every(_CONTAINER),
        "nodeSelector": table(text),
        "tolerations": every(_TOLERATION),
        "affinity": _AFFINITY,
        "overhead": table(quantity),
        "resources": _RESOURCES,
        "priorityClassName": text,
        "restartPolicy": text,
        "runtimeClassName": text,
    },
    ("containers",),
)
TEMPLATE = fields({"metadata": METADATA, "spec": _POD}, ("spec",))
_CONDITION = fields({"type": text, "status": text, "reason": text, "message": text}, ("type", "status"))
JOB = fields(
    {
        "parallelism": whole(),
        "completions": whole(),
        "backoffLimit": whole(),
        "activeDeadlineSeconds": whole(),
        "ttlSecondsAfterFinished": whole(),
        "suspend": truth,
        "completionMode": text,
        "template": TEMPLATE,
    },
    ("template",),
)
_POD_SETS = every(fields({"name": text, "count": whole(), "minCount": whole(1), "template": TEMPLATE}))
_VALUE = whole(-(2**31))
_LIMITS = every(
    fields(
        {
            "type": text,
            "default": table(quantity),
            "defaultRequest": table(quantity),
            "min": table(quantity),
            "max": table(quantity),
            "maxLimitRequestRatio": table(quantity),
        },
        ("type",),
    )
)

_KINDS: Mapping[str, Shape] = {
    "Namespace": fields({"metadata": METADATA}),
    "LimitRange": fields({"metadata": METADATA, "spec": fields({"limits": _LIMITS}, ("limits",))}, ("spec",)),
    "RuntimeClass": fields(
        {"metadata": METADATA, "handler": text, "overhead": fields({"podFixed": table(quantity)})}, ("handler",)
    ),
    "PriorityClass": fields({"metadata": METADATA, "value": _VALUE, "globalDefault": truth}, ("value",)),
    "WorkloadPriorityClass": fields({"metadata": METADATA, "value": _VALUE}, ("value",)),
    "Job": fields({"metadata": METADATA, "spec": JOB, "status": fields({"conditions": every(_CONDITION)})}, ("spec",)),
    "Workload": fields({"metadata": METADATA, "spec": fields({"podSets": _POD_SETS})}, ("spec",)),
}
_ANY = fields({"metadata": METADATA}, ("metadata",))


def faults(kind: str, manifest: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with a manifest of a kind, as far as its shape goes."""
    return _KINDS.get(kind, _ANY)(manifest, ())
