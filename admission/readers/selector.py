"""Label selectors as an object may really hold them."""

from collections.abc import Mapping

from admission.model.selectors import LabelRule, Selector
from admission.readers.narrow import items, mapping, strings, text, word, words

_NEVER = LabelRule("", "In", ())


def read_label_selector(value: object) -> Selector | None:
    """None selects nothing. What cannot be read narrows the selection to nothing: it never widens it."""
    if not isinstance(value, Mapping):
        return None
    stated = mapping(value.get("matchLabels"))
    wanted = strings(stated)
    rules = [LabelRule(key, "In", (wanted[key],)) if key in wanted else _NEVER for key in sorted(stated)]
    for entry in items(value.get("matchExpressions")):
        rule = mapping(entry)
        key, operator = text(rule.get("key")), text(rule.get("operator"))
        rules.append(LabelRule(word(key), word(operator), words(rule.get("values"))) if key else _NEVER)
    return Selector(tuple(rules))
