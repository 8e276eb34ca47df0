"""Metadata, and a Job, as the API server's decoder reads them, before any rule is asked."""

from collections.abc import Mapping
from typing import Any

from admission.world.answers import bad_request
from admission.world.objects import Frozen, Object

# The type of each field, Go's name for it, and the same of what it holds.
_STRINGS = (Mapping, "map[string]string", str, "string")
_HELD: dict[str, tuple[Any, str, Any, str]] = {
    "labels": _STRINGS,
    "annotations": _STRINGS,
    "finalizers": (list, "[]string", str, "string"),
    "ownerReferences": (list, "[]v1.OwnerReference", Mapping, "v1.OwnerReference"),
}
_PLAIN = ("name", "generateName", "namespace")


def decoded_metadata(manifest: Frozen) -> Object:
    """Of a manifest whose kind is known. A null is no value, and in a map of strings the empty one. Raises Refused."""
    meta = manifest.get("metadata")
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        raise _unreadable(manifest, meta, "ObjectMeta.metadata", "v1.ObjectMeta")
    made = dict(meta)
    for name in _PLAIN:
        if meta.get(name) is not None and not isinstance(meta[name], str):
            raise _unreadable(manifest, meta[name], f"ObjectMeta.metadata.{name}", "string")
    for name, (wanted, called, inner, inner_called) in _HELD.items():
        value: Any = meta.get(name)
        if value is None:
            continue
        if not isinstance(value, wanted):
            raise _unreadable(manifest, value, f"ObjectMeta.metadata.{name}", called)
        for entry in value.values() if isinstance(value, Mapping) else value:
            if entry is not None and not isinstance(entry, inner):
                raise _unreadable(manifest, entry, f"ObjectMeta.metadata.{name}", inner_called)
        if wanted is Mapping:
            made[name] = {key: "" if entry is None else entry for key, entry in value.items()}
    return made


# A shape is Go's name of a type, what JSON it is read from, and what is in it.
_TEXT, _TRUTH, _INT32, _INT64 = ("string", str, None), ("bool", bool, None), ("int32", int, None), ("int64", int, None)
_TEXTS = ("map[string]string", Mapping, _TEXT)
_ANY = ("", object, None)
_QUANTITIES = ("v1.ResourceList", Mapping, _ANY)  # what is no quantity is told by the rules
_RESOURCES = ("v1.ResourceRequirements", Mapping, {"requests": _QUANTITIES, "limits": _QUANTITIES})
_CONTAINERS = (
    "[]v1.Container",
    list,
    ("v1.Container", Mapping, {"name": _TEXT, "image": _TEXT, "restartPolicy": _TEXT, "resources": _RESOURCES}),
)
_POD = (
    "v1.PodSpec",
    Mapping,
    {
        "containers": _CONTAINERS,
        "initContainers": _CONTAINERS,
        "nodeSelector": _TEXTS,
        "tolerations": ("[]v1.Toleration", list, ("v1.Toleration", Mapping, {})),
        "schedulingGates": ("[]v1.PodSchedulingGate", list, ("v1.PodSchedulingGate", Mapping, {})),
        "affinity": ("v1.Affinity", Mapping, {}),
        "overhead": _QUANTITIES,
        "resources": _RESOURCES,
        "priorityClassName": _TEXT,
        "restartPolicy": _TEXT,
        "runtimeClassName": _TEXT,
    },
)
_TEMPLATE = (
    "v1.PodTemplateSpec",
    Mapping,
    {"metadata": ("v1.ObjectMeta", Mapping, {"labels": _TEXTS, "annotations": _TEXTS}), "spec": _POD},
)
_JOB = (
    "v1.JobSpec",
    Mapping,
    {
        **dict.fromkeys(("parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished"), _INT32),
        "activeDeadlineSeconds": _INT64,
        **dict.fromkeys(("suspend", "manualSelector"), _TRUTH),
        **dict.fromkeys(("completionMode", "podReplacementPolicy", "managedBy"), _TEXT),
        "template": _TEMPLATE,
    },
)


def decode_job(manifest: Frozen) -> None:
    """Raises Refused for a spec that the decoder cannot read."""
    _decode(manifest, _JOB, manifest.get("spec"), "Job", "spec")


def _decode(manifest: Frozen, shape: Any, value: Any, owner: str, path: str) -> None:
    called, wanted, inside = shape
    if value is None:
        return
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise _unreadable(manifest, value, f"{owner}.{path}", called)
    if isinstance(inside, dict):
        for name in inside:
            _decode(manifest, inside[name], value.get(name), called.removeprefix("v1."), f"{path}.{name}")
    elif inside is not None:
        for entry in value if wanted is list else value.values():
            _decode(manifest, inside, entry, owner, path)


def _unreadable(manifest: Frozen, value: Any, field: str, wanted: str) -> Exception:
    kind, version = manifest["kind"], manifest["apiVersion"].rpartition("/")[2]
    return bad_request(
        f'{kind} in version "{version}" cannot be handled as a {kind}: json: cannot unmarshal {_json_type(value)} into '
        f"Go struct field {field} of type {wanted}"
    )


def _json_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case Mapping():
            return "object"
        case _:
            return "array"
