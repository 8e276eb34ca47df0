"""ConfigMap JSON -> what it adds to the catalogue of accelerators. An entry that is wrong is left out with a sentence
about it; the others count."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import yaml

from admission.api.field_errors import OMITTED, FieldError, invalid, required, unsupported
from admission.model.accelerators import ANY, CONFIG_MAP_KEY, DERIVED, MEMORY, UNITS, CatalogueChanges
from admission.model.amounts import BadQuantity, exact, rounded_up
from admission.readers.metadata import read_metadata
from admission.readers.narrow import is_mapping, items, mapping, text

_PATH = f"data[{CONFIG_MAP_KEY}]"
_LONGEST = 64 * 2**10  # characters: some 500 entries; reading more would hold up everybody
_EXAMPLE = "must be a list in YAML, like [{name: acme.example/wafer, vendor: Acme}]"
_LONGEST_NAME = 253 + 1 + 63  # of a resource, as Kubernetes has it

Changes = tuple[tuple[str, Mapping[str, Any]], ...]


class _Wrong(Exception):
    def __init__(self, error: FieldError) -> None:
        super().__init__(error.path)  # its value need not be fit for printing
        self.error = error


def read_catalogue(wire: Mapping[str, Any]) -> CatalogueChanges:
    """Total: any JSON object, a ConfigMap of somebody else too, gives changes, or none."""
    meta = read_metadata(wire)
    changes, faults = _read(text(mapping(wire.get("data")).get(CONFIG_MAP_KEY)))
    return CatalogueChanges(meta.namespace, meta.name, meta.uid, meta.resource_version, changes, faults)


@lru_cache(4)  # the webhooks in memory look anew at each review
def _read(stated: str) -> tuple[Changes, tuple[str, ...]]:
    if not stated.strip():
        return (), ()
    if len(stated) > _LONGEST:
        return (), (
            str(invalid(_PATH, OMITTED, f"has more than {_LONGEST} characters; leave out what is known anyway")),
        )
    try:
        listed = yaml.safe_load(stated)
    except (yaml.YAMLError, RecursionError, ValueError):
        listed = None
    if not isinstance(listed, list):
        return (), (str(invalid(_PATH, OMITTED, _EXAMPLE)),)
    changes, faults = [], []
    for at, entry in enumerate(listed):
        try:
            changes.append(_entry(f"{_PATH}[{at}]", entry))
        except _Wrong as wrong:
            faults.append(_told(wrong.error))
    return tuple(changes), tuple(faults)


def _told(error: FieldError) -> str:
    try:
        return str(error)
    except (ValueError, RecursionError):  # in YAML a value may hold itself
        return str(replace(error, value=OMITTED))


def _entry(path: str, entry: object) -> tuple[str, Mapping[str, Any]]:
    """Name, and the fields that are stated. Raises _Wrong."""
    if not is_mapping(entry):
        raise _Wrong(invalid(path, OMITTED, "must be a map with a name, like {name: acme.example/wafer, vendor: Acme}"))
    name = entry.get("name")
    if name is None:
        raise _Wrong(required(f"{path}.name", "the resource that pods ask for, like acme.example/wafer"))
    _resource(f"{path}.name", name)
    if name in DERIVED:
        raise _Wrong(invalid(f"{path}.name", name, "is what names are counted as; name a resource that nodes have"))
    return str(name), dict(_fields(path, entry))


def _fields(path: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for field, value in entry.items():
        if field == "name":
            continue
        if field not in _READ:
            raise _Wrong(unsupported(path, field if isinstance(field, str) else str(field), ("name", *_READ)))
        ours, read = _READ[field]
        yield ours, read(f"{path}.{field}", value)


def _resource(path: str, value: object) -> str:
    word = value.removesuffix(ANY) if isinstance(value, str) else ""
    if not word or len(word) > _LONGEST_NAME or any(letter.isspace() or letter == ANY for letter in word):
        raise _Wrong(
            invalid(path, value, f"must be the name of a resource, like acme.example/wafer; a {ANY} may end it")
        )
    return str(value)


def _resources(path: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _Wrong(invalid(path, value, "must be a list of names, like [nvidia.com/gpu]"))
    return tuple([_resource(f"{path}[{at}]", one) for at, one in enumerate(items(value))])


def _word(path: str, value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong(invalid(path, value, "must be a string"))
    return value


def _unit(path: str, value: object) -> str:
    if value not in UNITS:
        raise _Wrong(unsupported(path, value, UNITS))
    return str(value)


def _truth(path: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(invalid(path, value, "must be true or false"))
    return value


def _quantity(path: str, value: object, example: str) -> Any:
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise BadQuantity
        found = exact(str(value))
    except BadQuantity:
        raise _Wrong(invalid(path, value, f"must be a quantity, like {example}")) from None
    if found < 0:
        raise _Wrong(invalid(path, value, "must be greater than or equal to 0"))
    return found


def _accelerators(path: str, value: object) -> Any:
    return _quantity(path, value, "0.25")


def _memory(path: str, value: object) -> int:
    return rounded_up(MEMORY, _quantity(path, value, "80Gi"))


# As people write it -> the field of `Accelerator`, and how it is read.
_READ: Mapping[str, tuple[str, Callable[[str, object], Any]]] = {
    "vendor": ("vendor", _word),
    "unit": ("unit", _unit),
    "accelerators": ("accelerators", _accelerators),
    "memory": ("memory", _memory),
    "shareOf": ("of", _resource),
    "perDevice": ("per_device", _truth),
    "excludes": ("excludes", _resources),
    "needs": ("needs", _resources),
}
