"""A trace of jobs as CSV, `arrival,runtime,queue,priority,cpu,memory,gpu,count`, turned into Jobs.

Amounts are per pod, `count` is the number of pods. Times are durations (`90s`, `1h30m`) or plain seconds; an empty
runtime means for ever. `queue` is `namespace/queue`, or a queue of namespace `default`.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from admission.model.amounts import BadQuantity, exact
from admission.model.durations import BadDuration, duration
from admission.model.names import PRIORITY_CLASS, QUEUE_NAME
from controller.cli.manifests import BadManifests, Problem

COLUMNS = ("arrival", "runtime", "queue", "priority", "cpu", "memory", "gpu", "count")
GPU = "nvidia.com/gpu"  # what the column stands for; a trace names no vendor
_REQUIRED = ("arrival", "queue")
_INT32 = 2**31


@dataclass(frozen=True, slots=True)
class Row:
    """One job of a trace. Times in seconds; `runtime` None: for ever."""

    arrival: float
    runtime: float | None
    manifest: Mapping[str, Any]
    priority: int


class _BadCell(ValueError):
    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


def priority_class(value: int) -> dict[str, Any]:
    """The WorkloadPriorityClass that a trace's number stands for."""
    name = f"trace-{value}" if value >= 0 else f"trace-minus-{-value}"
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def read_trace(file: str, text: str) -> list[Row]:
    """All rows, in the order of the file. Raises BadManifests that names line and column."""
    try:
        lines = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise BadManifests([Problem(file, 1, None, "", f"is not CSV: {error}", "mend the quotes")]) from error
    header = [name.strip().lower() for name in lines[0]] if lines else []
    unknown = [name for name in header if name not in COLUMNS] + [name for name in _REQUIRED if name not in header]
    if unknown or len(set(header)) != len(header):
        problem = f"has the header {','.join(header)[:100]!r}"
        raise BadManifests([Problem(file, 1, 1, "", problem, f"write {','.join(COLUMNS)}")])
    rows, problems = list[Row](), list[Problem]()
    for number, cells in enumerate(lines[1:], start=2):
        if any(cell.strip() for cell in cells):
            try:
                rows.append(_row(number, header, cells))
            except _BadRow as bad:
                problems.append(Problem(file, 1, number, bad.column, str(bad), bad.remedy))
    if problems:
        raise BadManifests(problems)
    return rows


class _BadRow(ValueError):
    def __init__(self, column: str, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.column = column
        self.remedy = remedy


def _row(number: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        raise _BadRow("", f"has {len(cells)} cells, the header {len(header)}", "mend the commas")
    given = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}

    def cell(column: str, read: Callable[[str], Any], absent: Any = None) -> Any:
        value = given.get(column, "")
        if not value:
            if column in _REQUIRED:
                raise _BadRow(column, "is empty", "fill it in")
            return absent
        try:
            return read(value)
        except _BadCell as bad:
            raise _BadRow(column, str(bad), bad.remedy) from bad

    priority = cell("priority", _integer(-_INT32), 0)
    amounts = {"cpu": cell("cpu", _amount), "memory": cell("memory", _amount), GPU: cell("gpu", _amount)}
    namespace, queue = cell("queue", _queue)
    labels = {QUEUE_NAME: queue}
    if priority:
        labels[PRIORITY_CLASS] = priority_class(priority)["metadata"]["name"]
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"row-{number}", "namespace": namespace, "labels": labels},
        "spec": _spec(tuple((name, text) for name, text in amounts.items() if text), cell("count", _integer(1), 1)),
    }
    return Row(cell("arrival", _time), cell("runtime", _time), manifest, priority)


@lru_cache(maxsize=4096)
def _spec(requests: tuple[tuple[str, str], ...], count: int) -> Mapping[str, Any]:
    """Shared by the rows that are alike, so that what follows from a shape is worked out once."""
    container = {"name": "main", "image": "trace", "resources": {"requests": dict(requests), "limits": {}}}
    container["resources"]["limits"] = {name: text for name, text in requests if name == GPU}  # type: ignore[index]
    return {
        "parallelism": count,
        "completions": count,
        "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
    }


def _time(text: str) -> float:
    if text.isdecimal():
        return float(text)
    try:
        return duration(text if text[-1].isalpha() else f"{text}s")
    except BadDuration as error:
        raise _BadCell(f"{text[:60]!r} is not a duration", "write seconds, or a duration like 90s or 1h30m") from error


@lru_cache(maxsize=4096)
def _amount(text: str) -> str:
    try:
        size = exact(text)
    except BadQuantity as error:
        raise _BadCell(f"{text[:60]!r} is not a quantity", "write it like 500m, 2 or 1Gi") from error
    if size < 0:
        raise _BadCell(f"{text[:60]!r} is negative", "write a quantity from 0")
    return text if size else ""


def _integer(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text) if len(text) < 20 else _INT32
        except ValueError as error:
            raise _BadCell(f"{text[:60]!r} is not a whole number", f"write a number from {least}") from error
        if not least <= value < _INT32:
            raise _BadCell(f"{text[:60]!r} is not between {least} and {_INT32 - 1}", "write a number in that range")
        return value

    return read


def _queue(text: str) -> tuple[str, str]:
    namespace, slash, queue = text.rpartition("/")
    if (slash and not (namespace and queue)) or "/" in namespace:
        raise _BadCell(f"{text[:60]!r} is not a queue", "write namespace/queue")
    return namespace or "default", queue


def rows_of(traces: list[tuple[str, str]]) -> Iterator[Row]:
    """The rows of several files; names are made distinct by the file's place."""
    for index, (file, text) in enumerate(traces):
        for row in read_trace(file, text):
            if index:
                metadata = {**row.manifest["metadata"], "name": f"{row.manifest['metadata']['name']}-{index + 1}"}
                row = Row(row.arrival, row.runtime, {**row.manifest, "metadata": metadata}, row.priority)
            yield row
