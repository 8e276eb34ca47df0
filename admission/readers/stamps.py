"""The annotation `lockgate.dev/stamped`: which profile gave what, and what stood there before.

    {"etl-tenants": {"queue": null, "labels[cost-center]": "7"}}

It is an account for people, and it is what makes stamping repeatable: what came from a profile is never taken for the
word of the author.
"""

import json
from collections.abc import Mapping
from typing import Any

from admission.model.names import STAMPED
from admission.readers.narrow import canonical, mapping, text

Stamps = dict[str, dict[str, str | None]]  # profile -> field -> what stood there before; None: nothing


def read_stamps(annotations: object) -> Stamps:
    """Total: what cannot be read is none."""
    stated = text(mapping(annotations).get(STAMPED))
    try:
        said = json.loads(stated) if stated else None
    except (ValueError, RecursionError):
        return {}
    return {
        name: {field: before for field, before in fields.items() if before is None or isinstance(before, str)}
        for name, fields in mapping(said).items()
        if isinstance(fields, Mapping)
    }


def written(stamps: Mapping[str, Mapping[str, Any]]) -> str:
    """The value of the annotation: the same for the same stamps."""
    return canonical(stamps)
