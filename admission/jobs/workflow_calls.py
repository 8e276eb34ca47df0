"""What the steps or tasks of one template need at most at one time, given what each of them needs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from admission.api.field_errors import FieldError
from admission.jobs.antichain import heaviest_antichain
from admission.jobs.workflow_peak import Peak, beside_each_other, larger, one_after_another, smaller, total
from admission.model.amounts import plus, times
from admission.readers.narrow import text, words

_TASK = re.compile(r"([a-zA-Z0-9][-a-zA-Z0-9]*)(\.[A-Z][a-zA-Z]+)?")


class Call(NamedTuple):
    one: Peak
    all: Peak  # of its items, as many as there are


def peak_of_steps(groups: Sequence[Sequence[Call]], limit: int | None, why: FieldError) -> Peak:
    """Each group waits for the one before it, but for its daemons. `limit`: of calls that run at one time."""
    staying, largest = Peak(), Peak()  # daemons of the groups before: all together, and the most that one needs
    met = []
    for group in groups:
        everything = beside_each_other([staying, *(call.all for call in group)], why)
        each = beside_each_other([staying, *(call.one for call in group)], why)
        met.append(_limited(everything, each, [largest, *(call.one for call in group)], limit))
        daemons = [call.all.staying for call in group if call.all.staying]
        if daemons:
            staying = Peak(total([staying.requests, *daemons]))
            largest = Peak(larger(largest.requests, *daemons))
    return one_after_another(met)


def peak_of_tasks(
    tasks: Sequence[Mapping[str, Any]], calls: Sequence[Call], limit: int | None, why: FieldError, exact: bool = True
) -> Peak:
    """Of tasks those count that need not wait for each other, and all daemons. Not `exact`: all count."""
    waits_for = _waits_for(tasks) if exact else {}
    exact = any(waits_for.values())
    everything = _at_one_time([call.all for call in calls], waits_for, why, exact)
    if limit is None:
        return everything
    ones = [call.one for call in calls]
    return _limited(everything, _at_one_time(ones, waits_for, why, exact=False), ones, limit)


def _limited(everything: Peak, each: Peak, ones: Sequence[Peak], limit: int | None) -> Peak:
    """Whatever the number of items, so many of the called run at one time; what grows from within still grows."""
    if limit is None:
        return everything
    most = times(larger(*[one.requests for one in ones]), limit)
    requests = most if everything.endless else smaller(everything.requests, most)
    return everything._replace(requests=requests, endless=each.endless)


def _at_one_time(called: Sequence[Peak], waits_for: Mapping[int, Sequence[int]], why: FieldError, exact: bool) -> Peak:
    staying = total([peak.staying for peak in called])
    passing = [_less(peak.requests, peak.staying) if peak.staying else peak.requests for peak in called]
    most = total(passing)
    if exact:
        most = {name: heaviest_antichain([each.get(name, 0) for each in passing], waits_for) for name in sorted(most)}
    peak = one_after_another(called)._replace(requests=plus(most, staying))
    return peak.unbounded(why) if _grows(called, waits_for) else peak


def _grows(called: Sequence[Peak], waits_for: Mapping[int, Sequence[int]]) -> bool:
    """Whether something runs beside a task that starts a template around it again."""
    again = [at for at, one in enumerate(called) if one.again]
    if not again:
        return False
    if any(one.staying for one in called):
        return True
    running = [at for at, one in enumerate(called) if any(one.requests.values())]
    before = {task: _all_before(task, waits_for) for task in {*again, *running}} if waits_for else {}
    return any(
        other != at and other not in before.get(at, ()) and at not in before.get(other, ())
        for at in again
        for other in running
    )


def _waits_for(tasks: Sequence[Mapping[str, Any]]) -> dict[int, list[int]]:
    by_name = {text(task.get("name")): at for at, task in enumerate(tasks)}
    found = {}
    for at, task in enumerate(tasks):
        depends = text(task.get("depends"))
        named = [name for name, _ in _TASK.findall(depends)] if depends else words(task.get("dependencies"))
        found[at] = sorted({by_name[name] for name in named if name in by_name} - {at})
    return found


def _all_before(task: int, waits_for: Mapping[int, Sequence[int]]) -> set[int]:
    found: set[int] = set()
    waiting = list(waits_for.get(task, ()))
    while waiting:
        before = waiting.pop()
        if before not in found:
            found.add(before)
            waiting += waits_for.get(before, ())
    return found


def _less(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    return {name: max(units - right.get(name, 0), 0) for name, units in left.items()}
