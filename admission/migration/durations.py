"""Durations of other systems: Go's, which are ours too."""

from admission.migration.fields import Fields
from admission.model.durations import BadDuration, duration


def duration_text(fields: Fields, name: str) -> str:
    """As it is written; "" where there is none or it is 0, which means the same."""
    text = fields.word(name)
    if not text:
        return ""
    try:
        return text.strip().removeprefix("+") if duration(text) > 0 else ""
    except BadDuration:
        fields.fault(name, "is no duration", "write one like 90s, 10m or 1h30m")
        return ""
