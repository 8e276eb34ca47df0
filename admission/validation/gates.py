"""The annotation by which others keep a job or Workload out of the queue: set at creation, only ever shortened."""

from collections.abc import Mapping

from admission.api.field_errors import FieldError, forbidden, invalid, key, too_long
from admission.model.names import ADMISSION_GATED_BY
from admission.validation.syntax import domain_prefixed_path

_PATH = key("metadata.annotations", ADMISSION_GATED_BY)
_LONGEST = 63  # bytes of one gate's name


def check_gates(annotations: Mapping[str, str] | None, before: Mapping[str, str] | None = None,
                created: bool = True) -> list[FieldError]:  # fmt: skip
    """`created`: there is no object before. Names are `domain/name`, comma-separated, unique."""
    value = (annotations or {}).get(ADMISSION_GATED_BY, "")
    if created:
        return _syntax(value)
    old = (before or {}).get(ADMISSION_GATED_BY, "")
    return [*_only_removed(_names(value), _names(old), value, old), *_syntax(value)]


def _only_removed(gates: list[str], before: list[str], value: str, old: str) -> list[FieldError]:
    if value and not old:
        return [forbidden(_PATH, "cannot add admission gate after creation")]
    if value and any(gate not in before for gate in gates):
        return [forbidden(_PATH, "can only remove gates, not add new ones")]
    return []


def _syntax(value: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for gate in _names(value):
        if not gate:
            errors.append(invalid(_PATH, value, "cannot contain empty gate names"))
        elif gate in seen:
            errors.append(invalid(_PATH, value, f"duplicate gate name: {gate}"))
        else:
            errors += domain_prefixed_path(_PATH, gate)
            if len(gate.encode()) > _LONGEST:
                errors.append(too_long(_PATH, _LONGEST))
        seen.add(gate)
    return errors


def _names(value: str) -> list[str]:
    return [name.strip() for name in value.split(",")] if value.strip() else []
