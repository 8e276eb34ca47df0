"""The page of Kueue's metrics: gauges read from State, queue by queue, and what the recorder has counted.

A thousand queues have a hundred thousand lines. They are written in slices, and in between the event loop goes on:
nobody's lease or watch waits for a page. A queue that goes meanwhile is simply not on it.
"""

import asyncio
import platform
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import TypeVar

from admission.model.selectors import Selector
from admission.published import (
    FAMILIES,
    Family,
    Recorder,
    cohort_gauges,
    local_queue_gauges,
    queue_gauges,
)
from admission.published.families import BUILD_INFO
from admission.published.queues import Sample
from admission.published.tally import Labels
from admission.state import State
from controller.kit.exposition import Form, header, number

V = TypeVar("V")

SLICE_SECONDS = 0.005  # as long as a page may keep the event loop from others
CHUNK_LINES = 1000  # of one write to the socket: a tenth of a megabyte


class Page:
    """`role`: of this replica now: leader, follower or standalone. What is counted is a leader's or lone one's."""

    def __init__(self, state: State, *, role: Callable[[], str], version: str) -> None:
        self._state = state
        self._role = role
        self._version = version
        self.recorder = Recorder(state, self._has_series)
        state.tell(self.recorder.told)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The text, all families, those without series too."""
        lines: dict[Family, list[str]] = {family: [_header(family)] for family in FAMILIES if self._is_there(family)}
        began = time.perf_counter()
        for family, line in self._lines():
            lines[family].append(line)
            if time.perf_counter() - began > SLICE_SECONDS:
                await asyncio.sleep(0)
                began = time.perf_counter()
        for family in [*lines]:
            of_family = lines.pop(family)
            for start in range(0, len(of_family), CHUNK_LINES):
                yield "".join(of_family[start : start + CHUNK_LINES]).encode()
                await asyncio.sleep(0)

    def _is_there(self, family: Family) -> bool:
        return family.owner != "LocalQueue" or self._selector is not None

    @property
    def _selector(self) -> Selector | None:
        """Of the LocalQueues that have series; None: none has."""
        configuration = self._state.objects.configuration
        return configuration.metrics.local_queues if configuration.gates["LocalQueueMetrics"] else None

    def _has_series(self, key: str) -> bool:
        """A LocalQueue by "namespace/name"."""
        selector, queue = self._selector, self._state.objects.local_queue(*key.split("/", 1))
        return selector is not None and queue is not None and selector.matches(queue.labels)

    def _lines(self) -> Iterator[tuple[Family, str]]:
        role = self._role()
        yield BUILD_INFO, _form(BUILD_INFO, "").sample(_build(self._version), 1)
        for family, labels, value in self._gauges():
            yield family, _form(family, role).sample(labels, value)
        yield from self._counted("standalone" if role == "standalone" else "leader")

    def _gauges(self) -> Iterator[Sample]:
        """Those of one object are read at once: State may change between two samples."""
        state = self._state
        resources = state.objects.configuration.metrics.cluster_queue_resources
        finished: Counter[str] = Counter()
        for key in [*state.objects.local_queues]:
            queue = state.objects.local_queue(*key.split("/", 1))
            if queue is None:
                continue
            count = self.recorder.finished.get(key, 0)
            finished[queue.cluster_queue] += count
            if self._has_series(key):
                yield from [*local_queue_gauges(state, key, count, resources=resources)]
        for name in [*state.objects.cluster_queues]:
            yield from [*queue_gauges(state, name, finished[name], resources=resources)]
        yield from [*self.recorder.unadmitted.gauges(state, self._has_series)]
        for root in state.scheduler.tree.roots():
            yield from [*cohort_gauges(state, root)]

    def _counted(self, role: str) -> Iterator[tuple[Family, str]]:
        """And forgets the series of queues and cohorts that are gone."""
        tally = self.recorder.tally
        for family, counters in [*tally.counters.items()]:
            for labels, count in self._alive(family, counters):
                yield family, _form(family, role).sample(labels, count)
        for family, histograms in [*tally.histograms.items()]:
            edges = _edges(family)
            for labels, histogram in self._alive(family, histograms):
                yield family, _form(family, role).histogram(labels, edges, histogram.counts, histogram.sum)

    def _alive(self, family: Family, series: dict[Labels, V]) -> Iterator[tuple[Labels, V]]:
        objects, tree = self._state.objects, self._state.scheduler.tree
        for labels, value in [*series.items()]:
            match family.owner:
                case "ClusterQueue":
                    there = not labels[0] or labels[0] in objects.cluster_queues
                case "LocalQueue":
                    there = self._has_series(f"{labels[1]}/{labels[0]}")
                case "Cohort":
                    there = tree.cohort(labels[0]) is not None
                case _:
                    there = True
            if there:
                yield labels, value
            else:
                series.pop(labels, None)


@cache
def _form(family: Family, role: str) -> Form:
    return Form(family.full_name, family.labels, (("replica_role", role),) if role else ())


@cache
def _header(family: Family) -> str:
    return header(family.full_name, family.type, family.help)


@cache
def _edges(family: Family) -> tuple[str, ...]:
    return (*map(number, family.edges), "+Inf")


def _build(version: str) -> tuple[str, ...]:
    """The labels of build_info; Kueue's words for a program that is none of Go's."""
    built = f"{sys.platform}/{platform.machine()}"
    return (f"v{version}", "", "", "", f"{sys.implementation.name} {platform.python_version()}", built)
