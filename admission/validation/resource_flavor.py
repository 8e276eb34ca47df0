"""What a ResourceFlavor must not say, beyond its schema: it is copied onto pods, which the API server would refuse."""

import msgspec

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, invalid
from admission.validation.syntax import label_key, label_value_faults, labels


class _Taint(msgspec.Struct):
    key: str = ""
    value: str = ""
    effect: str = ""


class _Toleration(msgspec.Struct):
    key: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    node_labels: dict[str, str] | None = None
    node_taints: list[_Taint] | None = None
    tolerations: list[_Toleration] | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _ResourceFlavor(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)


def check_resource_flavor(document: Document, before: Document | None) -> list[FieldError]:
    """Raises Unreadable."""
    flavor = view(document, _ResourceFlavor)
    if flavor.metadata.deletion_timestamp is not None:  # its finalizer must be able to go
        return []
    return [
        *labels("spec.nodeLabels", flavor.spec.node_labels),
        *_taints("spec.nodeTaints", flavor.spec.node_taints or []),
        *tolerations("spec.tolerations", [toleration.key for toleration in flavor.spec.tolerations or ()]),
    ]


def tolerations(path: str, keys: list[str]) -> list[FieldError]:
    """An empty key tolerates every taint and is legal."""
    return [error for at, key in enumerate(keys) if key for error in label_key(f"{path}[{at}].key", key)]


def _taints(path: str, taints: list[_Taint]) -> list[FieldError]:
    errors = []
    seen = set()
    for at, taint in enumerate(taints):
        here = f"{path}[{at}]"
        errors += label_key(f"{here}.key", taint.key)
        if faults := label_value_faults(taint.value):
            errors.append(invalid(f"{here}.value", taint.value, ";".join(faults)))
        if (taint.key, taint.effect) in seen:
            value = {"key": taint.key, "value": taint.value, "effect": taint.effect}
            errors.append(FieldError(here, "Duplicate value", value, "taints must be unique by key and effect pair"))
        seen.add((taint.key, taint.effect))
    return errors
