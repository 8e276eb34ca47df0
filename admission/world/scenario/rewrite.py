"""Puts what was seen into a scenario's expectations, touching nothing but the values: comments and layout stay."""

import json
from typing import Any

import yaml

from admission.world.scenario.paths import MISSING
from admission.world.scenario.runner import Result


def rewritten(result: Result) -> tuple[str, int]:
    """The file's text with every expectation that failed and can be mended, and how many values that were."""
    text, source = result.case.source.text, result.case.source
    edits: dict[tuple[int, int], str] = {}
    for failure in result.failures:
        mismatch = failure.mismatch
        if mismatch is None or mismatch.seen is MISSING:
            continue
        node = source.node(("expect", failure.index, *mismatch.path))
        if node is not None:
            # The end of a block collection is where the next thing begins: only its own text may go.
            start, end = node.start_mark.index, node.end_mark.index
            end = start + len(text[start:end].rstrip())
            edits.setdefault((start, end), _written(mismatch.seen))
    for (start, end), value in sorted(edits.items(), reverse=True):
        text = text[:start] + value + text[end:]
    return text, len(edits)


def _written(value: Any) -> str:
    """YAML that may stand in a flow mapping as well as in a block, on one line."""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str):
        return json.dumps(value)
    # Inside of `[…]`, so that what is only special in flow style gets its quotes too.
    line = yaml.safe_dump([value], default_flow_style=True, width=2**20, allow_unicode=True).strip()
    return line[1:-1]
