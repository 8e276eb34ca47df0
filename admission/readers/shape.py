"""The digest of what a pod runs: by it a job and its Workload are found equal or out of step.

Equal means what the API server means: the order of keys, the spelling of a quantity and all but the last of several
environment variables with one name make no difference. Nor does what Go leaves out when it writes: what is empty, zero
or false, or holds nothing else. So a Workload that Kueue made of a custom resource fits it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from admission.model.amounts import BadQuantity, exact
from admission.readers.narrow import canonical_bytes, entries, is_mapping, mapping
from admission.readers.pool import Pool

_HEX = 16  # 64 bits: a job is only ever compared with the few Workloads it owns

_TEXTS = {str}
_NO_DIVISOR = ("divisor", "0")  # what Go writes of one that is not there

# Jobs differ in their image and arguments; environment, resources and mounts are the same in thousands.
_digests: Pool[str] = Pool(8192)


def shape_of(pod: Mapping[str, Any], shared: Sequence[tuple[str, str]] = ()) -> str:
    """The digest of a pod spec's init containers and containers, in hex. `shared`: what annotations ask for."""
    parts: list[Any] = [
        [_container(entry) for entry in entries(pod.get(field))] for field in ("initContainers", "containers")
    ]
    return _digest([*parts, shared] if shared else parts)


def _container(container: Mapping[str, Any]) -> dict[str, Any]:
    """Texts and lists of texts as they are, the rest as the digest of what it means."""
    plain: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for field, value in container.items():
        if type(value) is str or (type(value) is list and set(map(type, value)) <= _TEXTS):
            if value:
                plain[field] = value
        elif value:
            rest[field] = value
    if rest and (digest := _digests.of(rest, lambda: _told(rest))):
        plain[""] = digest
    return plain


def _told(rest: dict[str, Any]) -> str:
    plain = _plain(rest)
    return _digest(plain) if plain else ""


def _digest(plain: Any) -> str:
    return hashlib.sha256(canonical_bytes(plain)).hexdigest()[:_HEX]


def last_of_each(env: list[Any]) -> list[Any]:
    """Environment variables without repeated names: the last value, where the name came first."""
    kept: dict[object, Any] = {}
    for position, variable in enumerate(env):
        name = mapping(variable).get("name")
        kept[name if isinstance(name, str) else position] = variable
    return list(kept.values())


def _plain(value: Any, field: str = "") -> Any:
    if type(value) is str or field == "securityContext":  # there "false" is said for a purpose
        return value
    if is_mapping(value):
        if field in ("requests", "limits"):
            return {name: _quantity(entry) for name, entry in value.items()}
        plain = {name: _quantity(entry) if name == "divisor" else _plain(entry, name) for name, entry in value.items()}
        return {name: entry for name, entry in plain.items() if entry and (name, entry) != _NO_DIVISOR}
    if isinstance(value, list):
        return [_plain(entry) for entry in (last_of_each(value) if field == "env" else value)]
    return value


def _quantity(value: Any) -> Any:
    try:
        return str(exact(str(value)))
    except BadQuantity:
        return value
