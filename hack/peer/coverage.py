"""Which pairs of features occurred together in a scenario that exercised both."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from hack.peer.features import FEATURES

Pair = tuple[str, str]
# Those that cannot meet: they belong to different Configurations.
_OF_RESOURCES, _OF_SHARES = ("excluded resource", "transformed resource"), ("fair sharing", "weights")
IMPOSSIBLE = frozenset((a, b) for a, b in combinations(sorted((*_OF_RESOURCES, *_OF_SHARES)), 2)
                       if (a in _OF_RESOURCES) != (b in _OF_RESOURCES))  # fmt: skip


class Coverage:
    """Of all scenarios of a run."""

    def __init__(self, exercised: Iterable[frozenset[str]]) -> None:
        self.alone: Counter[str] = Counter()
        self.together: Counter[Pair] = Counter()
        for features in exercised:
            self.alone.update(features)
            self.together.update(combinations(sorted(features), 2))
        every = set(combinations(sorted(FEATURES), 2)) - IMPOSSIBLE
        self.missing = sorted(pair for pair in every if not self.together[pair])
        self.share = 1 - len(self.missing) / len(every)
        self.pairs = len(every)

    def text(self, most: int = 40) -> list[str]:
        """For people."""
        lines = [f"{self.share:.1%} of {self.pairs} pairs of {len(FEATURES)} features occurred together"]
        rare = sorted(FEATURES, key=lambda name: self.alone[name])[:8]
        lines.append("rarest: " + ", ".join(f"{name} ({self.alone[name]})" for name in rare))
        if self.missing:
            lines.append("not yet: " + "; ".join(f"{a} + {b}" for a, b in self.missing[:most]))
        return lines
