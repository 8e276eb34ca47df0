"""What the API server refuses in a LimitRange whose shape is right: a type that does not exist, bounds that cross."""

from collections.abc import Iterator, Mapping
from typing import Any

from admission.model.amounts import exact
from admission.validation.syntax import label_key_faults
from controller.cli.shapes import Fault
from controller.kit.documents import Path

_TYPES = ("Container", "Pod", "PersistentVolumeClaim")  # besides any name with a domain
_TABLES = ("default", "defaultRequest", "min", "max", "maxLimitRequestRatio")
# Of one resource the first may not be above the second; at fault is whichever is not a bound, or the lower one.
_ORDER = (
    ("min", "max", "min"),
    ("min", "default", "default"),
    ("min", "defaultRequest", "defaultRequest"),
    ("default", "max", "default"),
    ("defaultRequest", "max", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest"),
)


def limit_faults(manifest: Mapping[str, Any]) -> Iterator[Fault]:
    """Of a LimitRange without faults of shape."""
    types: list[str] = []
    for at, entry in enumerate(manifest["spec"]["limits"]):
        path = ("spec", "limits", at)
        kind, tables = entry["type"], {name: entry.get(name) or {} for name in _TABLES}
        yield from _type(kind, (*path, "type"), types)
        types.append(kind)
        yield from _present(kind, path, tables)
        for name, table in tables.items():
            for resource in table:
                for fault in label_key_faults(resource)[:1]:
                    yield Fault((*path, name, resource), resource, "is not the name of a resource", fault)
        yield from _crossed(path, tables)


def _type(kind: str, path: Path, before: list[str]) -> Iterator[Fault]:
    if label_key_faults(kind) or ("/" not in kind and kind not in _TYPES):
        remedy = f"write {', '.join(_TYPES[:-1])} or {_TYPES[-1]}"
        yield Fault(path, kind, "is not a type of limit", remedy)
    elif kind in before:
        yield Fault(path, kind, "has an entry already", "merge the two")


def _present(kind: str, path: Path, tables: Mapping[str, Any]) -> Iterator[Fault]:
    if kind == "Pod":
        for name in ("default", "defaultRequest"):
            if tables[name]:
                yield Fault((*path, name), None, "may not be there for the type Pod", "remove it")
    elif kind == "PersistentVolumeClaim" and "storage" not in {**tables["min"], **tables["max"]}:
        yield Fault((*path, "max"), None, "is missing", "bound storage by min or max")


def _crossed(path: Path, tables: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    for lower, upper, blamed in _ORDER:
        other, word, remedy = (lower, "below", "at least") if blamed == upper else (upper, "above", "at most")
        for resource, low in tables[lower].items():
            high = tables[upper].get(resource)
            if high is not None and exact(str(low)) > exact(str(high)):
                bound = tables[other][resource]
                problem = f"is {word} {other} {bound!r}"
                yield Fault((*path, blamed, resource), tables[blamed][resource], problem, f"write {bound} {remedy}")
    for resource, ratio in tables["maxLimitRequestRatio"].items():
        if exact(str(ratio)) < 1:
            yield Fault((*path, "maxLimitRequestRatio", resource), ratio, "is less than 1", "write 1 at least")
