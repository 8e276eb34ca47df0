"""What stamping noted on a job stays as it is: others could have a queue made for them, or leave a roll-out."""

from collections.abc import Iterator, Mapping

from admission.api.field_errors import FieldError, forbidden, key
from admission.model.names import WRITTEN_BY_STAMPING


def stamps_changed(annotations: Mapping[str, str] | None, before: Mapping[str, str] | None) -> Iterator[FieldError]:
    """For a change. A manifest without them, applied again, may take them away: nobody gains by that."""
    for name in sorted(WRITTEN_BY_STAMPING & (annotations or {}).keys()):
        if (annotations or {})[name] != (before or {}).get(name):
            said = "is written by Lockgate alone, when a job is created: leave it as it is"
            yield forbidden(key("metadata.annotations", name), said)
