"""All hints that are understood, by the system they come from; docs/foreign-hints.md shows the same table."""

from collections.abc import Iterable, Mapping

from admission.stamping.foreign_hints.alias import Ecosystem
from admission.stamping.foreign_hints.kai import KAI
from admission.stamping.foreign_hints.koord_queue import KOORD_QUEUE
from admission.stamping.foreign_hints.volcano import VOLCANO
from admission.stamping.foreign_hints.yunikorn import YUNIKORN

ECOSYSTEMS: Mapping[str, Ecosystem] = {one.name: one for one in (KAI, VOLCANO, YUNIKORN, KOORD_QUEUE)}

# Label of a namespace: the systems whose words count in it, joined by dots, or `all`. A label's value has no commas.
NAMESPACE_LABEL = "lockgate.dev/foreign-hints"
ALL = "all"


def named(label: str) -> tuple[str, ...]:
    """What the namespace's label says, word by word."""
    return tuple(word for word in label.split(".") if word)


def ecosystems(words: Iterable[str]) -> tuple[list[Ecosystem], list[str]]:
    """The systems of these names in the table's order, and the words that name none."""
    asked = set(words)
    known = [one for name, one in ECOSYSTEMS.items() if name in asked or ALL in asked]
    return known, sorted(asked - ECOSYSTEMS.keys() - {ALL})
