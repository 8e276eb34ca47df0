"""Two plays of the same jobs, side by side: as JSON (a promise, see docs/diff.md) and for the eyes."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from admission.model.amounts import text
from admission.model.durations import spoken
from admission.model.queues import FlavorResource
from admission.world.comparison import CHANGES, Change, Comparison, Outcome, QueueRecord, Use
from controller.cli.telling import counted

VERSION = 1
MAX_ROWS = 60  # jobs in a table; a program reads the JSON
_SAID = {
    "neverStarts": "never starts",
    "nowStarts": "starts now",
    "later": "starts later",
    "earlier": "starts earlier",
    "preemptedMore": "preempted more",
    "preemptedLess": "preempted less",
    "endsLater": "ends later",
    "endsEarlier": "ends earlier",
    "elsewhere": "runs elsewhere",
    "state": "differs",
}


def as_json(found: Comparison) -> dict[str, Any]:
    """Times are seconds from the start, shares are parts of the nominal quota; null: never, or no such thing."""
    return {
        "version": VERSION,
        "until": _number(found.until),
        "different": found.different,
        "summary": {"jobs": len(found.jobs), **{change: found.count(change) for change in CHANGES}},
        "workloads": [_job_json(one) for one in found.jobs],
        "clusterQueues": [
            {"name": name, "before": _queue_json(before), "after": _queue_json(after)}
            for name, (before, after) in found.queues.items()
        ],
    }


def _job_json(one: Change) -> dict[str, Any]:
    kind, namespace, name = one.job
    sides = {"before": _outcome_json(one.before), "after": _outcome_json(one.after)}
    return {"kind": kind, "namespace": namespace, "name": name, "changes": [*one.changes], **sides}


def _outcome_json(one: Outcome) -> dict[str, Any]:
    flavors: dict[str, dict[str, str]] = {}
    for pod_set, resource, flavor in one.flavors:
        flavors.setdefault(pod_set, {})[resource] = flavor
    return {
        "state": one.state,
        "arrived": _number(one.arrived),
        "started": _number(one.started),
        "finished": _number(one.finished),
        "evictions": one.evictions,
        "preemptions": one.preemptions,
        "clusterQueue": one.cluster_queue,
        "flavors": flavors,
        "problem": one.problem,
    }


def _queue_json(record: QueueRecord | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {
        "use": [
            {
                "flavor": flavor,
                "resource": resource,
                "nominal": text(resource, use.nominal),
                "peak": text(resource, use.peak),
                "meanShare": _share(use.mean, use),
                "peakShare": _share(use.peak, use),
            }
            for (flavor, resource), use in record.use.items()
        ],
        "started": record.started,
        "neverStarted": record.waiting,
        "preemptions": record.preemptions,
        "waitMean": _number(record.wait_mean),
        "waitP95": _number(record.wait_p95),
    }


def _share(units: float, use: Use) -> float | None:
    """Of the nominal quota; above 1 it is borrowed."""
    return round(units / use.nominal, 4) if use.nominal else None


def _number(value: float | None) -> float | int | None:
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, 3)


def tables(found: Comparison, screen: Console) -> None:
    """What differs; nothing else."""
    changed = [one for one in found.jobs if one.changes]
    if changed:
        screen.print(_jobs(changed[:MAX_ROWS]))
        if len(changed) > MAX_ROWS:
            screen.print(f"… and {len(changed) - MAX_ROWS} more; --output json has them all.")
    queues = {name: pair for name, pair in found.queues.items() if pair[0] != pair[1]}
    if queues:
        screen.print(_queues(queues))
    screen.print(_summary(found), highlight=False, soft_wrap=True)


def _summary(found: Comparison) -> str:
    if not found.different:
        return f"Nothing differs: {counted(len(found.jobs), 'job')} until {spoken(found.until)}."
    counts = [f"{count} {_SAID[change]}" for change in CHANGES if (count := found.count(change))]
    same = sum(not one.changes for one in found.jobs)
    return (
        f"{counted(len(found.jobs), 'job')} until {spoken(found.until)}: {', '.join([*counts, f'{same} as before'])}."
    )


def _jobs(changed: list[Change]) -> Table:
    table = Table(title="Jobs, before → after", title_justify="left")
    for name in ("job", "what"):
        table.add_column(name)
    for name in ("started", "finished", "preempted"):
        table.add_column(name, justify="right")
    table.add_column("runs in")
    for one in changed:
        was, is_ = one.before, one.after
        table.add_row(
            escape(f"{one.job.namespace}/{one.job.name}"),
            ", ".join(_SAID[change] for change in one.changes),
            _both(_when(was.started), _when(is_.started)),
            _both(_when(was.finished), _when(is_.finished)),
            _both(str(was.preemptions), str(is_.preemptions)),
            _both(_place(was), _place(is_)),
        )
    return table


def _queues(queues: Mapping[str, tuple[QueueRecord | None, QueueRecord | None]]) -> Table:
    table = Table(title="Cluster queues, before → after", title_justify="left")
    for name in ("queue", "flavor", "resource"):
        table.add_column(name)
    for name in ("quota", "mean use", "peak use", "wait, mean", "95 of 100 within", "never start", "preempted"):
        table.add_column(name, justify="right")
    for name, (was, is_) in queues.items():
        head = [escape(name)]
        tail = [
            _both(_spoken(was.wait_mean if was else None), _spoken(is_.wait_mean if is_ else None)),
            _both(_spoken(was.wait_p95 if was else None), _spoken(is_.wait_p95 if is_ else None)),
            _both(str(was.waiting if was else ""), str(is_.waiting if is_ else "")),
            _both(str(was.preemptions if was else ""), str(is_.preemptions if is_ else "")),
        ]
        for fr in dict.fromkeys((*(was.use if was else ()), *(is_.use if is_ else ()))):
            table.add_row(
                *head, *fr, *_use(fr, was.use.get(fr) if was else None, is_.use.get(fr) if is_ else None), *tail
            )
            head, tail = [""], [""] * len(tail)
        if head != [""]:  # a queue without quota
            table.add_row(*head, "", "", "", "", "", *tail)
        table.add_section()
    return table


def _use(fr: FlavorResource, was: Use | None, is_: Use | None) -> tuple[str, str, str]:
    quotas = [text(fr[1], use.nominal) if use else "" for use in (was, is_)]
    means = [_percent(use.mean, use) if use else "" for use in (was, is_)]
    peaks = [_percent(use.peak, use) if use else "" for use in (was, is_)]
    return _both(*quotas), _both(*means), _both(*peaks)


def _percent(units: float, use: Use) -> str:
    share = _share(units, use)
    return "–" if share is None else f"{share:.0%}"


def _both(before: str, after: str) -> str:
    return before if before == after else f"{before or '–'} → {after or '–'}"


def _when(moment: float | None) -> str:
    return "" if moment is None else spoken(moment)


def _spoken(seconds: float | None) -> str:
    return "" if seconds is None else spoken(seconds)


def _place(one: Outcome) -> str:
    flavors = dict.fromkeys(flavor for _, _, flavor in one.flavors)
    return escape(f"{one.cluster_queue} ({', '.join(flavors)})") if flavors else ""
