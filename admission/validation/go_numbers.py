"""Numbers in labels and annotations, as Go reads them and complains of them."""

import json
import re

_IS_INTEGER = re.compile(r"[+-]?[0-9]+").fullmatch
_LONGEST = 63  # digits that are looked at: a label has no more, and int64 nineteen


def integer_fault(text: str) -> str:
    """Why it is no int64, in the words of Go's strconv.Atoi; "" when it is one."""
    if not _IS_INTEGER(text):
        why = "invalid syntax"
    elif len(text) > _LONGEST or not -(2**63) <= int(text) < 2**63:
        why = "value out of range"
    else:
        return ""
    return f"strconv.Atoi: parsing {json.dumps(text, ensure_ascii=False)}: {why}"
