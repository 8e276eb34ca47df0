"""A job whose Workload is admitted is started, and told of it when that has happened."""

import pytest

from admission.model.effects import EmitEvent, Outcome, Planned, Result, StartJob
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.model.workload import Admission, Condition, PodSet, PodSetAssignment, Workload
from tests.core.test_state import Desk

JOB = Ref("Job", "lab", "j")


def admitted() -> Desk:
    desk = Desk()
    pods = (PodSet("main", 1, {"cpu": 1000}),)
    states = {word: Condition(word, "True", word, "", 900.0) for word in ("QuotaReserved", "Admitted")}
    admission = Admission("cq", (PodSetAssignment("main", {"cpu": "std"}, {"cpu": 1000}, 1),))
    workload = Workload("lab", "job-j", "w", 50, 900.0, "lq", pods, admission=admission, conditions=states,
                        owner=JOB, owner_uid="j", owned=True)  # fmt: skip
    desk.state.observe("Workload", workload)
    desk.state.observe("Job", Job(JOB, "j", 60, 800.0, pods, suspended=True, queue_name="lq"))
    return desk


def effects(desk: Desk) -> list[Planned]:
    """Of the next plans, until State is content; statuses of queues are nobody's here."""
    desk.now += 1
    out: list[Planned] = []
    while True:
        plan = desk.state.plan(desk.now)
        for planned in plan.effects:
            if planned.effect.ref.kind in ("ClusterQueue", "LocalQueue", "ResourceFlavor"):
                desk.state.outcome(Outcome(planned.id, "refused"))
            else:
                out.append(planned)
        if not plan.more:
            return out


def said(planned: list[Planned]) -> list[str]:
    events = [one.effect for one in planned if isinstance(one.effect, EmitEvent)]
    return [f"{event.ref.kind} {event.reason}: {event.message}" for event in events]


@pytest.mark.parametrize(
    ("result", "events"),
    [
        ("ok", ["Job Started: Admitted by clusterQueue cq"]),
        ("conflict", []),
        ("refused", []),
        ("unknown", []),
        ("impossible", ["Workload FailedToStart: no", "Job FailedToStart: no"]),
    ],
)
def test_a_start_is_told_of_when_it_has_happened(result: Result, events: list[str]) -> None:
    desk = admitted()
    planned, start = effects(desk), None
    while start is None:
        assert said(planned) == []
        for one in planned:
            if isinstance(one.effect, StartJob):
                start = one
            elif not isinstance(one.effect, EmitEvent):
                desk.answer(one, "ok")
        planned = effects(desk) if start is None else planned
    desk.state.outcome(Outcome(start.id, result, 70 if result == "ok" else None, "no"))
    assert said(effects(desk)) == events
