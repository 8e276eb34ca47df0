"""Good manifests with a place or two damaged at random: what no table thinks of. Same seed, same damage."""

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from tests.refusals.row import Object, Write

JUNK: tuple[Any, ...] = (
    "", "x", "No_Name", "a.b/c", "a b", -1, 0, 1, 5, 2**31, 3.5, True, None, [], {}, [None], {"a": "b"},
    "1Gi", "-1", "1m", "0", "1e3", "0.1", "1.5e-9", "2E", ".5", "5.",
    "n" * 64, "n" * 254, "n" * 317,
    "Exists", "NoSchedule", "NoExecute", "kubernetes.io/hostname",
)  # fmt: skip
PARTS = ("spec", "status", "value", "description")


def damaged(chance: random.Random, good: Write) -> Write:
    """Of the good write, with the same kind of damage to whichever part it writes."""
    kept = ("status",) if good.status else tuple(part for part in PARTS if part != "status")
    parts = {part: deepcopy(good.new[part]) for part in kept if part in good.new}
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(parts))
        if places:
            _hurt(chance, *chance.choice(places))
    if good.status:
        assert good.old is not None
        return Write({**good.old, **parts}, good.old, status=True)
    made: Object = {name: value for name, value in good.new.items() if name not in PARTS}
    return Write({**made, **parts})


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every mapping or list in it, with each of its keys or indexes."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, inner in entries:
        yield value, place
        yield from _places(inner)


def _hurt(chance: random.Random, holder: Any, place: Any) -> None:
    how = chance.random()
    if how < 0.15:
        del holder[place]
    elif how < 0.3 and isinstance(holder, list):
        holder.append(deepcopy(holder[place]))
    elif how < 0.4 and isinstance(holder, dict):
        holder[chance.choice(list(holder))] = deepcopy(holder[place])
    else:
        holder[place] = deepcopy(chance.choice(JUNK))
