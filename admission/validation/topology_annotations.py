"""What the annotations on a pod template must not say about how near each other its pods run.

They are judged although nothing here places pods yet: what is accepted today is what a later version reads.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

import msgspec

from admission.api.documents import Unreadable, view
from admission.api.field_errors import OMITTED, FieldError, duplicate, forbidden, invalid, key, required
from admission.model.booleans import is_bool
from admission.model.names import (
    POD_SET_GROUP_NAME,
    PREFERRED_TOPOLOGY,
    REQUIRED_TOPOLOGY,
    SLICE_CONSTRAINTS,
    SLICE_REQUIRED_TOPOLOGY,
    SLICE_SIZE,
    UNCONSTRAINED_TOPOLOGY,
)
from admission.validation.syntax import label_key

_PREFIX = "kueue.x-k8s.io/podset-"  # of all of them, and nearly every template has none
_INT32 = re.compile(r"[+-]?[0-9]{1,64}").fullmatch
_MOST_LAYERS = 3


class _Layer(msgspec.Struct):
    topology: str = ""
    size: int = 0


def check_topology_annotations(path: str, found: Mapping[str, str] | None, pods: int) -> list[FieldError]:
    """`path` is the annotations'; `pods` how many pods the template makes. Sizes are only compared with it when all
    else is right."""
    if not found or not any(name.startswith(_PREFIX) for name in found):
        return []
    return [*_levels(path, found), *_group(path, found), *_slices(path, found), *_layers(path, found)] or [
        *_within(path, found, pods)
    ]


def _levels(path: str, found: Mapping[str, str]) -> Iterator[FieldError]:
    wishes = (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, UNCONSTRAINED_TOPOLOGY)
    if sum(name in found for name in wishes) > 1:
        listed = ", ".join(f'"{name}"' for name in wishes)
        yield invalid(path, OMITTED, f"must not contain more than one topology annotation: [{listed}]")
    for name in (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, SLICE_REQUIRED_TOPOLOGY):
        if name in found:
            yield from label_key(key(path, name), found[name])
    if not is_bool(found.get(UNCONSTRAINED_TOPOLOGY, "true")):
        here = key(path, UNCONSTRAINED_TOPOLOGY)
        yield invalid(here, found[UNCONSTRAINED_TOPOLOGY], "must be a boolean value")


def _group(path: str, found: Mapping[str, str]) -> Iterator[FieldError]:
    """Two pod sets placed as one share a level, and neither is cut into slices."""
    name = found.get(POD_SET_GROUP_NAME)
    if name is None:
        return
    here = key(path, POD_SET_GROUP_NAME)
    if name.isascii() and name.isdigit():
        yield invalid(here, name, "must not be a number")
    for other in (SLICE_SIZE, SLICE_REQUIRED_TOPOLOGY, SLICE_CONSTRAINTS):
        if other in found:
            yield forbidden(here, f"may not be set when '{other}' is specified")
    if PREFERRED_TOPOLOGY not in found and REQUIRED_TOPOLOGY not in found:
        why = f"may not be set when neither '{PREFERRED_TOPOLOGY}' nor '{REQUIRED_TOPOLOGY}' is specified"
        yield forbidden(here, why)


def _slices(path: str, found: Mapping[str, str]) -> Iterator[FieldError]:
    here, size = key(path, SLICE_SIZE), found.get(SLICE_SIZE)
    if size is None:
        if SLICE_REQUIRED_TOPOLOGY in found:
            yield required(here, f"must be set when '{SLICE_REQUIRED_TOPOLOGY}' is specified")
        return
    number = _int32(size)
    if number is None:
        yield invalid(here, size, "must be a numeric value")
    elif number < 1:
        yield invalid(here, size, "must be greater than or equal to 1")
    if SLICE_REQUIRED_TOPOLOGY not in found:
        yield forbidden(here, f"may not be set when '{SLICE_REQUIRED_TOPOLOGY}' is not specified")


def _layers(path: str, found: Mapping[str, str]) -> Iterator[FieldError]:
    """Slices within slices, the outermost first: each holds a whole number of the next."""
    stated = found.get(SLICE_CONSTRAINTS)
    if stated is None:
        return
    here = key(path, SLICE_CONSTRAINTS)
    for other in (SLICE_REQUIRED_TOPOLOGY, SLICE_SIZE):
        if other in found:
            yield forbidden(here, f"may not be set when '{other}' is specified")
    layers = _read(stated)
    if layers is None:
        yield invalid(here, stated, "must be a valid JSON array")
        return
    if not 0 < len(layers) <= _MOST_LAYERS:
        yield invalid(here, stated, f"topology constraints must contain between 1 and {_MOST_LAYERS} entries")
        return
    for at, layer in enumerate(layers):
        yield from label_key(f"{here}[{at}].topology", layer.topology)
        if layer.size < 1:
            yield invalid(f"{here}[{at}].size", layer.size, "must be greater than or equal to 1")
    names = [layer.topology for layer in layers]
    for at, name in enumerate(names):
        if (first := names.index(name)) < at:
            yield duplicate(f"{here}[{at}].topology", f"{name} (also at index {first})")
    for at, (outer, inner) in enumerate(pairwise(layers), 1):
        if inner.size > 0 and outer.size % inner.size:
            yield invalid(f"{here}[{at}].size", inner.size, f"must evenly divide the parent layer size {outer.size}")


def _within(path: str, found: Mapping[str, str], pods: int) -> Iterator[FieldError]:
    size, layers = found.get(SLICE_SIZE), _read(found.get(SLICE_CONSTRAINTS, "[]"))
    why = f"must not be greater than pod set count {pods}"
    if size is not None and int(size) > pods:
        yield invalid(key(path, SLICE_SIZE), size, why)
    if layers and layers[0].size > pods:
        yield invalid(key(path, SLICE_CONSTRAINTS), layers[0].size, why)


def _read(stated: str) -> list[_Layer] | None:
    try:
        return view(stated.encode(), list[_Layer])
    except Unreadable:
        return None


def _int32(text: str) -> int | None:
    number = int(text) if _INT32(text) else None
    return number if number is not None and -(2**31) <= number < 2**31 else None
