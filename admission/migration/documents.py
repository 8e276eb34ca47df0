"""What all objects of other systems have in common: which they are, their names, and labels that people gave them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from admission.migration.fields import Fields, Findings
from admission.validation.syntax import label_key_faults, label_value_faults, subdomain_faults

_KEPT_BY_SERVERS = (
    "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Opened(NamedTuple):
    """An object, opened: `top` with apiVersion, kind and metadata taken; status is nobody's to carry over."""

    name: str
    namespace: str
    labels: dict[str, str]
    annotations: dict[str, str]
    top: Fields


def of_kind(documents: Sequence[Any], group: str, kind: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of this kind, in whatever version, with their indexes."""
    for index, document in enumerate(documents):
        if isinstance(document, Mapping) and document.get("kind") == kind:
            version = document.get("apiVersion")
            if isinstance(version, str) and version.rpartition("/")[0] == group:
                yield index, document


def opened(index: int, document: Mapping[str, Any], findings: Findings) -> Opened | None:
    """None for one without a usable name, which is a fault."""
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    top = Fields(document, f"{document.get('kind')} {name}", findings, index)
    for field in ("apiVersion", "kind", "status"):
        top.take(field)
    meta = top.child("metadata")
    for field in _KEPT_BY_SERVERS:
        meta.take(field)
    if not isinstance(name, str) or named_badly(name):
        meta.take("name")
        meta.fault("name", "is no name that an object can have", "use lower-case letters, digits, - and ., at most 253")
        return None
    meta.take("name")
    maps = {}
    for field in ("labels", "annotations"):
        inner = meta.child(field)
        maps[field] = {key: inner.text(key) for key in inner.names()}
    maps["annotations"].pop(_APPLIED, None)
    meta.take("finalizers")
    meta.take("ownerReferences")
    return Opened(name, meta.text("namespace"), maps["labels"], maps["annotations"], top)


def named_badly(name: str) -> bool:
    """No object can have this name."""
    return bool(subdomain_faults(name))


def kept_labels(one: Opened) -> dict[str, str]:
    """Labels that people gave an object; those that no object may have are left out, and told."""
    kept = {}
    for key, value in one.labels.items():
        if label_key_faults(key) or label_value_faults(value):
            one.top.findings.note(one.top.about, f"metadata.labels[{key}]", value, "no label of an object can say this")
        else:
            kept[key] = value
    return kept


def tell_annotations(one: Opened) -> None:
    """Annotations that are left mean something to another system only."""
    for key, value in one.annotations.items():
        one.top.findings.note(
            one.top.about, f"metadata.annotations[{key}]", value, "nothing here knows this annotation"
        )
