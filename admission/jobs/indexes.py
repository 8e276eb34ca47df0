"""Index lists of an Indexed Job's status (`1,3-5,7`), counted without ever being spelled out."""

import re

from admission.readers.narrow import text

_RANGE = re.compile(r"(\d{1,10})(?:-(\d{1,10}))?")


def indexes_below(limit: int, *lists: object) -> int:
    """How many different indexes below `limit` the lists name together. Parts that are no range are passed over."""
    counted, end = 0, 0
    for first, last in sorted(span for stated in lists for span in _spans(text(stated))):
        first, last = max(first, end), min(last, limit - 1)
        if first <= last:
            counted += last - first + 1
            end = last + 1
    return counted


def _spans(stated: str) -> list[tuple[int, int]]:
    found = (_RANGE.fullmatch(part) for part in stated.split(","))
    return [(int(match[1]), int(match[2] or match[1])) for match in found if match]
