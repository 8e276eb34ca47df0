"""What a job needs, said by its author in an annotation, where its manifest cannot tell."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import yaml

from admission.api.field_errors import OMITTED, FieldError, invalid, key
from admission.model.amounts import BadQuantity, amount
from admission.readers.narrow import mapping, text

MIN_RESOURCES = "lockgate.dev/min-resources"
KOORDINATOR = "koord-queue/min-resources"  # of the same meaning, in Koordinator's queue

_NAME = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LONGEST = 4096  # characters; some dozen resources need a tenth of it
_EXAMPLE = 'must be a list of resources as JSON or YAML, like {"cpu": "4", "memory": "8Gi"}'


class BadResources(ValueError):
    """`error` names the annotation, its value and what would be one."""

    def __init__(self, error: FieldError) -> None:
        super().__init__(str(error))
        self.error = error


def min_resources(manifest: Mapping[str, Any]) -> dict[str, int] | None:
    """In units as in `amounts`, sorted by resource; None where neither annotation is there. Raises BadResources."""
    annotations = mapping(mapping(manifest.get("metadata")).get("annotations"))
    name = next((name for name in (MIN_RESOURCES, KOORDINATOR) if name in annotations), None)
    return None if name is None else _read(key("metadata.annotations", name), annotations[name])


def _read(path: str, stated: object) -> dict[str, int]:
    listed = _loaded(text(stated)[: _LONGEST + 1])
    if not isinstance(listed, Mapping) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in listed):
        raise BadResources(invalid(path, stated, _EXAMPLE))
    found = {}
    for name, quantity in sorted(listed.items()):
        if isinstance(quantity, bool) or not isinstance(quantity, str | int | float):
            raise BadResources(invalid(key(path, name), OMITTED, _EXAMPLE))
        try:
            found[name] = amount(name, quantity)
        except BadQuantity as error:
            raise BadResources(invalid(key(path, name), quantity, str(error))) from error
        if found[name] < 0:
            raise BadResources(invalid(key(path, name), quantity, "must be greater than or equal to 0"))
    return found


@lru_cache(1024)
def _loaded(stated: str) -> object:
    # With references YAML can hold itself; no list of resources needs them.
    if len(stated) > _LONGEST or "&" in stated or "*" in stated:
        return None
    try:
        return json.loads(stated)
    except (ValueError, RecursionError):
        pass
    try:
        return yaml.safe_load(stated)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: a date that there is not
        return None
