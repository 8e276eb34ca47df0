"""A strategic merge patch of a Pod, as the API server applies one: maps merge, and so do those lists whose entries have
a key, entry by entry; any other list is replaced.

It needs no schema but the lists that have keys. The order of a merged list is Kubernetes', too: new entries stand
before those that the patch does not name.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

Value = dict[str, Any]

_DIRECTIVE, _RETAIN = "$patch", "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList/"
_PRIMITIVE = ""  # the key of lists that are sets of texts


class CannotMerge(Exception):
    """The patch does not fit; the message names the field and says why."""


class _Merged(NamedTuple):
    """A list whose entries are told apart by `key`, and the lists inside of an entry."""

    key: str
    within: Mapping[str, Any] = MappingProxyType({})


_CONTAINERS = _Merged(
    "name",
    {
        "env": _Merged("name"),
        "ports": _Merged("containerPort"),
        "volumeMounts": _Merged("mountPath"),
        "volumeDevices": _Merged("devicePath"),
    },
)
_POD: Mapping[str, Any] = {
    "metadata": {"finalizers": _Merged(_PRIMITIVE)},
    "spec": {
        "containers": _CONTAINERS,
        "initContainers": _CONTAINERS,
        "ephemeralContainers": _CONTAINERS,
        "volumes": _Merged("name"),
        "imagePullSecrets": _Merged("name"),
        "hostAliases": _Merged("ip"),
        "topologySpreadConstraints": _Merged("topologyKey"),
        "resourceClaims": _Merged("name"),
        "schedulingGates": _Merged("name"),
    },
}


def merged_pod(pod: Mapping[str, Any], patch: Mapping[str, Any]) -> Value:
    """The pod, or the pod template, with the patch applied; neither is changed. Raises CannotMerge."""
    try:
        return _map(pod, patch, _POD, "")
    except RecursionError:
        raise CannotMerge("is nested too deeply: flatten its fields") from None


def _map(original: Mapping[str, Any], patch: Mapping[str, Any], lists: Mapping[str, Any], path: str) -> Value:
    if _DIRECTIVE in patch:
        return _directed(patch, path)
    found = dict(original)
    if _RETAIN in patch:
        retained = patch[_RETAIN]
        if not isinstance(retained, list):
            raise CannotMerge(f"{path}{_RETAIN}: must be a list of names of fields")
        found = {name: value for name, value in found.items() if name in retained}
    for name, value in patch.items():
        if name == _RETAIN:
            continue
        if name.startswith(_DELETE_FROM):
            _without(found, name.removeprefix(_DELETE_FROM), value, f"{path}{name}")
        elif value is None:
            found.pop(name, None)
        else:
            found[name] = _value(found.get(name), value, lists.get(name), f"{path}{name}")
    return found


def _value(original: Any, patch: Any, known: Any, path: str) -> Any:
    if isinstance(known, _Merged) and not isinstance(patch, list):
        raise CannotMerge(f"{path}: must be a list")
    if isinstance(patch, Mapping):
        return _map(original if isinstance(original, Mapping) else {}, patch, known or {}, f"{path}.")
    if isinstance(known, _Merged):
        return _list(original if isinstance(original, list) else [], patch, known, path)
    return patch


def _directed(patch: Mapping[str, Any], path: str) -> Value:
    match patch[_DIRECTIVE]:
        case "replace":
            return {name: value for name, value in patch.items() if name != _DIRECTIVE}
        case "delete":
            return {}
    raise CannotMerge(f"{path}{_DIRECTIVE}: must be replace or delete")


def _list(original: Sequence[Any], patch: Sequence[Any], known: _Merged, path: str) -> list[Any]:
    if known.key == _PRIMITIVE:
        if not all(isinstance(entry, str) for entry in (*original, *patch)):
            raise CannotMerge(f"{path}: must be a list of texts")
        both = list(dict.fromkeys([*original, *patch]))
        return _in_order(both, patch, original, lambda entry: entry)
    deleted, wanted, replaces = _directives(patch, known.key, path)
    if replaces:
        return wanted
    left = [entry for entry in original if _key(entry, known.key) not in deleted]
    both = list(left)
    at = {_key(entry, known.key): index for index, entry in reversed(list(enumerate(both)))}
    for entry in wanted:
        key = entry[known.key]
        if key in at:
            both[at[key]] = _map(both[at[key]], entry, known.within, f"{path}[{key}].")
        else:
            at[key] = len(both)
            both.append(_map({}, entry, known.within, f"{path}[{key}]."))
    return _in_order(both, wanted, left, lambda entry: _key(entry, known.key))


def _directives(patch: Sequence[Any], key: str, path: str) -> tuple[list[Any], list[Value], bool]:
    """Keys of entries to delete, entries to merge, and whether those replace the whole list."""
    deleted, wanted, replaces = [], [], False
    for index, entry in enumerate(patch):
        where = f"{path}[{index}]"
        if not isinstance(entry, Mapping):
            raise CannotMerge(f"{where}: must be an object")
        directive = entry.get(_DIRECTIVE)
        if directive == "replace":
            replaces = True
            continue
        if not isinstance(entry.get(key), str | int):
            raise CannotMerge(f"{where}: has no {key}, by which entries are told apart")
        if directive is None:
            wanted.append(dict(entry))
        elif directive == "delete":
            deleted.append(entry[key])
        else:
            raise CannotMerge(f"{where}.{_DIRECTIVE}: must be replace or delete")
    return deleted, wanted, replaces


def _in_order(
    merged: Sequence[Any], patch: Sequence[Any], original: Sequence[Any], key_of: Callable[[Any], Any]
) -> list[Any]:
    """What the patch names, in its order, and between it what it does not name, each before the first entry that it
    came before in the original."""
    named = {key_of(entry): at for at, entry in reversed(list(enumerate(patch)))}
    was = {key_of(entry): at for at, entry in reversed(list(enumerate(original)))}
    right = sorted((entry for entry in merged if key_of(entry) in named), key=lambda entry: named[key_of(entry)])
    left = [entry for entry in merged if key_of(entry) not in named]
    ordered: list[Any] = []
    while left and right:
        place = was.get(key_of(right[0]))
        ordered.append(left.pop(0) if place is not None and was[key_of(left[0])] < place else right.pop(0))
    return [*ordered, *left, *right]


def _without(found: Value, name: str, dropped: Any, path: str) -> None:
    if not isinstance(dropped, list):
        raise CannotMerge(f"{path}: must be a list")
    if isinstance(found.get(name), list):
        found[name] = [entry for entry in found[name] if entry not in dropped]


def _key(entry: Any, key: str) -> Any:
    found = entry.get(key) if isinstance(entry, Mapping) else None
    return found if isinstance(found, str | int) else None
