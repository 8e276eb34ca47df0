"""The results side by side, with what was aimed at; and the machine they hold for."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from hack.bench.run import Result
from hack.kueue.module import MANAGER

# The API server is what runs out first, so its cost is what a controller must save; then its own, then time.
API_SERVER_CPU, CONTROLLER_CPU, WALL = 0.5, 0.5, 0.6  # of the peer's
WRITES = 2.0  # per workload: one admission, and what queues and events need once coalesced


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `target` is a bound of ours over theirs, or of ours alone."""

    name: str
    ours: float | None
    theirs: float | None
    unit: str
    target: float | None = None
    alone: bool = False

    @property
    def ratio(self) -> float | None:
        """Ours over theirs."""
        return self.ours / self.theirs if self.ours is not None and self.theirs else None

    @property
    def verdict(self) -> str:
        """Met, missed, or nothing to say."""
        measured = self.ours if self.alone else self.ratio
        if self.target is None or measured is None:
            return ""
        return "met" if measured <= self.target else "missed"


def figures(results: Sequence[Result]) -> list[Figure]:
    """Medians over the runs of each contestant."""
    ours = [result for result in results if result.contestant == "lockgate"]
    theirs = [result for result in results if result.contestant == "kueue"]
    kinds = list(results[0].admission)
    rows: list[tuple[str, Any, str, float | None, bool]] = [
        ("wall", lambda result: result.wall, "s", WALL, False),
        *(
            (f"time to admission, {kind}, mean", lambda result, kind=kind: result.admission[kind].mean, "s", 1.0, False)
            for kind in kinds
        ),
        *(
            (f"… {kind}, from stamps", lambda result, kind=kind: result.admission[kind].stamped_mean, "s", None, False)
            for kind in kinds
        ),
        ("evictions", lambda result: result.evictions, "", None, False),
        ("API server, CPU per workload", _per_workload("kube-apiserver"), "ms", API_SERVER_CPU, False),
        ("etcd, CPU per workload", _per_workload("etcd"), "ms", None, False),
        ("controller, CPU per workload", _per_workload("controller"), "ms", CONTROLLER_CPU, False),
        ("driver, CPU per workload", _per_workload("driver"), "ms", None, False),
        ("controller, peak memory", lambda result: result.peak_memory["controller"] / 2**20, "MiB", None, False),
        ("API server, peak memory", lambda result: result.peak_memory["kube-apiserver"] / 2**20, "MiB", None, False),
        ("controller's writes per workload", lambda result: result.writes_per_workload, "", WRITES, True),
        ("driver, an end sent late, mean", lambda result: result.driver_late_mean * 1000, "ms", None, False),
    ]
    return [
        Figure(name, _median(ours, read), _median(theirs, read), unit, target, alone)
        for name, read, unit, target, alone in rows
    ]


def show(results: Sequence[Result], console: Console) -> None:
    """Tables for people."""
    table = Table("", "Lockgate", "Kueue", "ratio", "target", "", title=f"{results[0].workloads} workloads")
    for figure in figures(results):
        bound = "" if figure.target is None else f"≤ {figure.target:g}" + ("" if figure.alone else " ×")
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
        ours, theirs = _number(figure.ours, figure.unit), _number(figure.theirs, figure.unit)
        table.add_row(figure.name, ours, theirs, ratio, bound, figure.verdict)
    console.print(table)
    by_kind = Table("writes of the controller", "Lockgate", "Kueue")
    for what in sorted({what for result in results for what in result.writes}):
        by_kind.add_row(what, *(_writes(results, name, what) for name in ("lockgate", "kueue")))
    console.print(by_kind)
    about = machine()
    loads = ", ".join(f"{result.contestant} {result.load_before:.1f}" for result in results)
    console.print(f"{about['cpu']}, {about['cores']} cores, {about['memory_gib']} GiB; Kueue {about['kueue']}, ")
    console.print(f"Python {about['python']}. Load average of the machine before each run: {loads}.")


def machine() -> Mapping[str, Any]:
    """What the figures hold for."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": models[0].partition(":")[2].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / 2**30),
        "python": platform.python_version(),
        "kueue": MANAGER.version,
    }


def _per_workload(component: str) -> Any:
    return lambda result: result.cpu_per_workload(component) * 1000


def _median(results: Sequence[Result], read: Any) -> float | None:
    return median(read(result) for result in results) if results else None


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f} {unit}".rstrip()


def _writes(results: Sequence[Result], name: str, what: str) -> str:
    made = [result.writes.get(what, 0) for result in results if result.contestant == name]
    return f"{median(made):g}" if made else ""
