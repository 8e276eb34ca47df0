"""A JobKind that is edited while there are jobs: those that wait go by the new word, those that run stay."""

from collections.abc import Sequence
from typing import Any

import yaml

from admission.jobs import READERS
from admission.jobs.described import described
from admission.model.effects import Patch
from admission.model.times import stamp
from admission.readers.job_kind import read_job_kind
from admission.reconcile.view import Serving
from admission.world.scenario.case import read_case
from admission.world.scenario.report import FileResult, text
from admission.world.scenario.runner import run_case
from tests.core.manifests.pods import Object
from tests.core.test_job_kinds_in_state import SWEEP, told
from tests.core.test_job_kinds_in_state import job_kind as written
from tests.core.test_jobs import merged

KUEUE = "kueue.x-k8s.io/v1beta2"


def pods(cpu: str = "2") -> Object:
    return {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}


def sweep(name: str = "train", **spec: Any) -> Object:
    metadata = {"name": name, "namespace": "lab", "labels": {"kueue.x-k8s.io/queue-name": "main"}}
    spec = {"replicas": 2, "template": pods(), **spec}
    return {"apiVersion": "experiments.example/v1", "kind": "Sweep", "metadata": metadata, "spec": spec}


def job_kind(**spec: Any) -> Object:
    started = {"started": {"path": "status.active", "atLeast": 1}}
    return {**written(**{**started, **spec}), "metadata": {"name": "sweep"}}


def at(moment: int, field: str, job: str = "train", **expected: Any) -> Object:
    return {"at": moment, "object": f"Sweep/lab/{job}", "field": field, **expected}


def stands(moment: int, state: str) -> Object:
    return {"at": moment, "workloadOf": "Sweep/lab/train", "state": state}


def edited(moment: int, **spec: Any) -> Object:
    return {"t": moment, "op": "patch", "ref": "JobKind/sweep", "patch": {"spec": spec}}


def patched(moment: int, **fields: Any) -> Object:
    return {"t": moment, "op": "patch", "ref": "Sweep/lab/train", "patch": {"spec": fields}}


def stop_policy(moment: int, policy: str) -> Object:
    return {"t": moment, "op": "patch", "ref": "ClusterQueue/all", "patch": {"spec": {"stopPolicy": policy}}}


def status(moment: int, **fields: Any) -> Object:
    ref = "Sweep/lab/train"
    return {"t": moment, "op": "patch", "ref": ref, "subresource": "status", "patch": {"status": fields}}


def plays(events: list[Object], expect: list[Object], *jobs: Object, needs: Sequence[str] = ()) -> None:
    flavors = [{"name": "std", "resources": [{"name": "cpu", "nominalQuota": "100"}]}]
    spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}
    local = {"namespace": "lab", "name": "main"}
    case = {
        "id": "C906",
        "source": "https://example.com/kinds",
        "area": "job-integration",
        "confidence": "high",
        "needs": ["jobs:Sweep", *needs],
        "gist": "A JobKind is edited",
        "why": "Its jobs should not suffer.",
        "objects": [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
            {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "std"}},
            {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "all"}, "spec": spec},
            {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": local, "spec": {"clusterQueue": "all"}},
            job_kind(),
            *jobs,
        ],
        "events": events,
        "expect": expect,
    }
    found = run_case(read_case(yaml.safe_dump(case)))
    assert found.outcome == "passed", "\n".join(text([FileResult("here", found)]))


CREATE = {"t": 0, "op": "create", "ref": "Sweep/lab/train"}
PAUSED = {"path": "spec.paused"}


# --- another hold


def test_who_waits_by_the_old_hold_is_let_go_from_it_and_who_comes_later_is_held_by_the_new_one() -> None:
    plays(
        [
            stop_policy(0, "Hold"),
            CREATE,
            edited(10, suspend=PAUSED),
            {"t": 20, "op": "create", "ref": "Sweep/lab/later"},
            stop_policy(30, "None"),
            status(40, active=2),
            stop_policy(50, "HoldAndDrain"),
            {"t": 60, "op": "tick"},
        ],
        [
            at(10, "spec.suspend", equals=True),
            at(20, "spec.paused", "later", equals=True),
            at(20, "spec.suspend", "later", equals=True),  # its author's own: none of ours any more
            stands(30, "admitted"),
            at(30, "spec.suspend", equals=False),
            at(30, "spec.paused", "later", equals=False),
            at(30, "spec.suspend", "later", equals=True),
            at(60, "spec.paused", equals=True),
            at(60, "spec.suspend", equals=False),
        ],
        sweep(),
        sweep("later", suspend=True),
    )


def test_what_held_jobs_before_is_noted_with_the_time_and_known_after_a_restart() -> None:
    state = told(written())
    state.serves(SWEEP, Serving(served=True))
    (first,) = [one.effect for one in state.plan(1000.0).effects]
    assert isinstance(first, Patch)
    stored = merged(written(), first.body)
    stored["spec"]["suspend"] = PAUSED
    stored["metadata"] = {**written(version=6)["metadata"]}
    state = told(stored)
    state.serves(SWEEP, Serving(served=True))
    (second,) = [one.effect for one in state.plan(2000.0).effects]
    assert isinstance(second, Patch)
    old = {"path": ["spec", "suspend"], "held": True, "released": False}
    assert second.body["status"]["formerHolds"] == [{**old, "until": stamp(2000)}]
    assert second.body["status"]["hold"]["path"] == ["spec", "paused"]
    stored = merged(stored, second.body)
    again = told(stored)
    again.serves(SWEEP, Serving(served=True))
    assert not again.plan(3000.0).effects
    found = READERS["JobKind"](stored)
    reader = again.job_kinds[SWEEP].read
    for created, held in ((1500, True), (2500, False)):
        job = sweep(suspend=True)
        job["metadata"]["creationTimestamp"] = stamp(created)
        assert reader(job).suspended is held
    assert found == read_job_kind(stored)


def test_whoever_takes_a_change_back_has_jobs_held_by_either() -> None:
    noted = {"path": ["spec", "paused"], "held": True, "released": False}
    old = {"path": ["spec", "suspend"], "held": True, "released": False, "until": stamp(2000)}
    former = [old, {"path": 7}, {"path": ["spec", "x"]}, None]
    found = read_job_kind({**written(), "status": {"hold": noted, "formerHolds": former}})
    assert [one.suspension.path for one in found.former] == [("spec", "paused")]
    assert found.rules is not None
    known = described(SWEEP, found.rules, None, found.former)
    assert known.read(sweep(paused=True)).suspended


# --- other pod sets


TWICE = [{"name": "main", "count": {"product": ["spec.replicas", 2]}, "template": "spec.template"}]


def reserved(moment: int, cpu: str) -> Object:
    return {"at": moment, "clusterQueue": "all", "reserved": {"std": {"cpu": cpu}}}


def test_who_runs_keeps_what_it_was_admitted_with_and_is_counted_anew_when_it_comes_back() -> None:
    plays(
        [
            CREATE,
            status(5, active=2),
            edited(10, podSets=TWICE),
            {"t": 15, "op": "restart-controller"},
            {"t": 20, "op": "tick"},
            stop_policy(30, "HoldAndDrain"),
            {"t": 35, "op": "tick"},
            status(40, active=0),
            stop_policy(50, "None"),
            {"t": 60, "op": "tick"},
        ],
        [
            stands(0, "admitted"),
            stands(20, "admitted"),
            at(20, "spec.suspend", equals=False),
            reserved(20, "4"),
            at(30, "spec.suspend", equals=True),
            stands(35, "quotaReserved"),  # its pods are still there
            reserved(35, "4"),
            stands(40, "pending"),
            stands(50, "admitted"),
            reserved(60, "8"),
        ],
        sweep(),
        needs=["faults"],
    )


def test_who_is_edited_while_it_runs_leaves_whatever_its_kind_said_before() -> None:
    plays(
        [
            CREATE,
            status(5, active=2),
            edited(10, podSets=TWICE),
            patched(20, replicas=3),
            {"t": 25, "op": "tick"},
            status(30, active=0),
            {"t": 40, "op": "tick"},
        ],
        [
            stands(10, "admitted"),
            at(20, "spec.suspend", equals=True),
            stands(40, "admitted"),
            reserved(40, "12"),
        ],
        sweep(),
    )


def test_an_edit_is_told_from_a_new_description_that_asks_for_the_same() -> None:
    same = [{"name": "main", "count": {"sum": ["spec.replicas"]}, "template": "spec.template"}]
    plays(
        [
            CREATE,
            status(5, active=2),
            edited(10, podSets=same),
            {"t": 15, "op": "tick"},
            patched(20, replicas=3),
            {"t": 25, "op": "tick"},
        ],
        [stands(10, "admitted"), at(15, "spec.suspend", equals=False), at(20, "spec.suspend", equals=True)],
        sweep(),
    )
