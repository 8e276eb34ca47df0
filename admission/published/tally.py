"""What has happened so far, added up per series. Plain numbers; who asks for a page reads them where they are."""

from bisect import bisect_left

from admission.published.families import Family

Labels = tuple[str, ...]


class Histogram:
    """`counts` are per bucket, not cumulative; the last is for everything beyond the edges."""

    __slots__ = ("counts", "sum")

    def __init__(self, edges: int) -> None:
        self.counts = [0] * (edges + 1)
        self.sum = 0.0


class Tally:
    def __init__(self) -> None:
        self.counters: dict[Family, dict[Labels, int]] = {}
        self.histograms: dict[Family, dict[Labels, Histogram]] = {}

    def count(self, family: Family, labels: Labels, by: int = 1) -> None:
        series = self.counters.setdefault(family, {})
        series[labels] = series.get(labels, 0) + by

    def observe(self, family: Family, labels: Labels, seconds: float, times: int = 1) -> None:
        """Clocks of different machines may disagree; nothing takes less than no time."""
        seconds = max(0.0, seconds)
        series = self.histograms.setdefault(family, {})
        found = series.get(labels)
        if found is None:
            found = series[labels] = Histogram(len(family.edges))
        found.counts[bisect_left(family.edges, seconds)] += times
        found.sum += seconds * times
