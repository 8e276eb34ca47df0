"""A simulation for the eyes: tables and the timeline."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from admission.explain import Explainer, Explanation, words
from admission.explain.states import state_word
from admission.model.amounts import text
from admission.model.durations import spoken
from admission.model.names import WorkloadKey
from admission.model.workload import Workload
from admission.world.simulation import Simulation
from admission.world.stories import Moment, Story
from controller.cli.telling import counted

MAX_ROWS = 60  # jobs in a table; beyond it a person wants totals, and a program reads the JSON
_WIDTH = 130  # of output that goes into a file
_PREEMPTOR = re.compile(r"\(UID: ([^,)]+).*?\) due to ([^;]+)")
_COLOURS = {
    "created": "dim",
    "quotaReserved": "dim",
    "admitted": "green",
    "preempted": "red",
    "evicted": "red",
    "finished": "blue",
}


def console() -> Console:
    screen = Console()
    return screen if screen.is_terminal else Console(width=_WIDTH)


def tables(simulation: Simulation, screen: Console) -> None:
    """Queues, jobs with their waits, and who still waits and why."""
    screen.print(_queues(simulation))
    stories = [story for story, _ in simulation.workloads()]
    screen.print(_jobs(simulation, stories[:MAX_ROWS]))
    if len(stories) > MAX_ROWS:
        screen.print(f"… and {len(stories) - MAX_ROWS} more; --output json has them all.")
    screen.print(summary(simulation, stories))
    for line in _waiting(simulation, stories):
        screen.print(line)


def timeline(simulation: Simulation, screen: Console) -> None:
    """One line for each thing that happened."""
    jobs = {story.key: simulation.called(story.key) for story, _ in simulation.workloads()}
    uids = {found.uid: jobs[found.key] for _, found in simulation.workloads() if found is not None}
    width = max((len(name) for name in jobs.values()), default=0)
    for one in simulation.timeline:
        if one.what == "quotaReserved":
            continue  # without admission checks it is the same moment as `admitted`
        line = f"{_clock(one.at):>10}  [{_COLOURS[one.what]}]{one.what:9}[/]  {jobs[one.workload]:{width}}"
        because = escape(_because(one, uids))
        screen.print(f"{line}  [dim]{because}[/]" if because else line.rstrip(), soft_wrap=True, highlight=False)


def _because(one: Moment, uids: Mapping[str, str]) -> str:
    """The message of the condition, with the preemptor's name in the place of its uid."""
    if one.what in ("admitted", "finished"):
        return ""
    preemptor = _PREEMPTOR.search(one.message)
    return f"for {uids.get(preemptor[1], preemptor[1])}: {preemptor[2]}" if preemptor else one.message


def summary(simulation: Simulation, stories: Sequence[Story]) -> str:
    waits = sorted(story.started - story.arrived for story in stories if story.started is not None)
    done = sum(1 for story in stories if story.finished is not None)
    parts = [f"{counted(len(stories), 'job')} until {_clock(simulation.now)}: {done} finished, {len(waits)} started"]
    if waits:
        late = waits[min(len(waits) - 1, len(waits) * 95 // 100)]
        parts.append(
            f"wait median {spoken(median(waits))}, 95 of 100 within {spoken(late)}, longest {spoken(waits[-1])}"
        )
    if preempted := sum(story.evictions for story in stories):
        parts.append(counted(preempted, "eviction"))
    return "; ".join(parts) + "."


def _queues(simulation: Simulation) -> Table:
    table = Table(title="Cluster queues", title_justify="left")
    for name, side in (("queue", "left"), ("cohort", "left"), ("flavor", "left"), ("resource", "left")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for name in ("quota", "used", "borrowed", "most used", "pending", "admitted"):
        table.add_column(name, justify="right")
    state = simulation.state
    for name in sorted(state.objects.cluster_queues):
        queue = state.objects.cluster_queue(name)
        if queue is None:
            continue
        used, borrowed, load = (
            state.scheduler.usage(name),
            state.scheduler.borrowed(name),
            state.loads.cluster_queue(name),
        )
        head = [name, queue.cohort]
        counts = [str(load.pending), str(load.admitted)]
        for (flavor, resource), quota in queue.quotas().items():
            fr = (flavor, resource)
            amounts = (quota.nominal, used.get(fr, 0), borrowed.get(fr, 0), simulation.peaks.get((name, fr), 0))
            table.add_row(*head, flavor, resource, *(text(resource, units) for units in amounts), *counts)
            head, counts = ["", ""], ["", ""]
        table.add_section()
    return table


def _jobs(simulation: Simulation, stories: Iterable[Story]) -> Table:
    table = Table(title="Jobs", title_justify="left")
    for name in ("job", "queue", "flavors", "state"):
        table.add_column(name)
    for name in ("pods", "arrived", "waited", "started", "finished", "evicted"):
        table.add_column(name, justify="right")
    slots = simulation.state.objects.workloads
    for story in stories:
        workload = slots[story.key].current if story.key in slots else None
        state = state_word(workload, simulation.state.scheduler.parked(story.key)) if workload else "pending"
        assigned = workload.admission.assignments if workload and workload.admission else ()
        flavors = dict.fromkeys(flavor for one in assigned for flavor in one.flavors.values())
        since = story.started if story.started is not None else simulation.now
        table.add_row(
            simulation.called(story.key),
            workload.queue_name if workload else "",
            ", ".join(flavors),
            state,
            _pods(workload) if workload else "",
            _clock(story.arrived),
            spoken(since - story.arrived),
            _clock(story.started),
            _clock(story.finished),
            str(story.evictions or ""),
        )
    return table


def _pods(workload: Workload) -> str:
    """How many it has, and of how many it asked for where they are fewer."""
    asked = sum(one.count for one in workload.pod_sets)
    given = sum(one.count for one in workload.admission.assignments) if workload.admission else asked
    return str(asked) if given == asked else f"{given}/{asked}"


def _waiting(simulation: Simulation, stories: Iterable[Story]) -> Iterable[str]:
    explainer = Explainer(simulation.state, simulation.start + simulation.now, simulation.called)
    slots, shown = simulation.state.objects.workloads, 0
    for story in stories:
        workload = slots[story.key].current if story.key in slots else None
        if workload is not None and (workload.finished or workload.reserved):
            continue
        shown += 1
        if shown > MAX_ROWS:
            continue
        why = story.problem or "" if workload is None else explainer.explain(story.key).sentence
        yield f"[bold]{escape(simulation.called(story.key))}[/] waits: {escape(why)}"
    if shown > MAX_ROWS:
        yield f"… and {shown - MAX_ROWS} more wait."
    for ref in simulation.unmanaged[:MAX_ROWS]:
        yield f"[bold]{escape(str(ref))}[/] {simulation.why_unmanaged(ref)}: it runs at once and takes no quota."


def _clock(moment: float | None) -> str:
    return "" if moment is None else spoken(moment)


def explanation(what: str, told: Explanation, called: Callable[[WorkloadKey], str], screen: Console) -> None:
    """The sentence, then the numbers behind it."""
    screen.print(f"[bold]{escape(what)}[/] is {told.state}. {escape(told.sentence)}", highlight=False)
    if told.ahead:
        screen.print(f"Ahead of it: {escape(', '.join(called(key) for key in told.ahead))}", highlight=False)
    if not told.lacks:
        return
    table = Table()
    for name in ("pod set", "resource", "flavor"):
        table.add_column(name)
    for name in ("asked", "free", "to borrow", "missing", "most"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    table.add_column("held by")
    for lack in told.lacks:
        amounts = (lack.asked, lack.free, lack.borrowable, lack.missing, lack.most)
        holders = [f"{one.name} ({text(lack.resource, one.units)})" for one in lack.holders]
        holders += [f"{lack.other_holders} others"] if lack.other_holders else []
        verdict = f"{lack.verdict}: {words.note(lack.note)}" if lack.note else lack.verdict
        table.add_row(
            lack.pod_set, lack.resource, lack.flavor, *(text(lack.resource, units) for units in amounts),
            escape(verdict), escape("\n".join(holders)),
        )  # fmt: skip
    screen.print(table)
