"""JobProfiles in the state: what each says of itself, and the LocalQueues that are made for jobs that wait."""

from typing import Any

from admission.jobs import READERS
from admission.model.effects import CreateLocalQueue, EmitEvent, Outcome, Patch, Plan
from admission.model.kinds import Ref
from admission.reconcile.requests import render
from admission.state.profiles import SEEN_AFTER, TALLY_SECONDS
from admission.state.state import State
from tests.core.test_job_profile import profile

HOME = "kueue-system"
NOW = 1000.0
MADE = {"name": "etl", "create": {"fromTemplate": "small"}}
Object = dict[str, Any]


def local_queue(namespace: str, name: str, version: int = 3) -> Object:
    metadata = {"name": name, "namespace": namespace, "uid": f"q-{namespace}-{name}", "resourceVersion": str(version)}
    spec = {"clusterQueue": "team", "x-later": {"kept": True}}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": metadata, "spec": spec}


def stamped_job(name: str = "a", template: str = "small", **annotations: str) -> Object:
    metadata = {
        "name": name,
        "namespace": "lab",
        "uid": f"uid-{name}",
        "resourceVersion": "9",
        "creationTimestamp": "1970-01-01T00:10:00Z",
        "labels": {"kueue.x-k8s.io/queue-name": "etl"},
        "annotations": {
            "lockgate.dev/queue-from": template,
            "lockgate.dev/stamped": '{"etl":{"queue":null}}',
            **annotations,
        },
    }
    spec = {"suspend": True, "template": {"spec": {"containers": [{"name": "c", "image": "none"}]}}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def state_with(*objects: Object) -> State:
    state = State()
    tell(state, {"kind": "Namespace", "metadata": {"name": "lab", "resourceVersion": "1"}}, *objects)
    return state


def tell(state: State, *objects: Object) -> None:
    for one in objects:
        one["metadata"].setdefault("resourceVersion", "1")
        state.observe(one["kind"], READERS[one["kind"]](one))


def at_rest() -> State:
    """With one profile, whose status is written."""
    state = state_with(profile())
    ((status, id_),) = [
        (dict(one.effect.body), one.id) for one in state.plan(NOW).effects if isinstance(one.effect, Patch)
    ]
    state.outcome(Outcome(id_, "ok", 10))
    written = {**profile(), **status}
    written["metadata"] = {**written["metadata"], "resourceVersion": "10"}
    tell(state, written)
    return state


def queues_of(plan: Plan) -> list[tuple[int, CreateLocalQueue]]:
    return [(one.id, one.effect) for one in plan.effects if isinstance(one.effect, CreateLocalQueue)]


def status_of(plan: Plan) -> list[Object]:
    patches = [one.effect for one in plan.effects if isinstance(one.effect, Patch)]
    return [dict(one.body["status"]) for one in patches if one.ref.kind == "JobProfile"]


def test_a_queue_that_a_job_waits_for_is_made_like_the_template() -> None:
    state = state_with(profile(stamp={"queue": MADE}), local_queue(HOME, "small"), stamped_job())
    ((_, effect),) = queues_of(state.plan(NOW))
    template = local_queue(HOME, "small")
    made = render(effect, {Ref("LocalQueue", HOME, "small"): template})
    assert (made.verb, made.ref) == ("create", Ref("LocalQueue", "lab", "etl"))
    assert made.body["spec"] == template["spec"]
    assert made.body["metadata"]["annotations"] == {"lockgate.dev/queue-from": "small"}


def test_it_is_asked_for_once_until_it_is_seen() -> None:
    state = state_with(profile(stamp={"queue": MADE}), local_queue(HOME, "small"), stamped_job(), stamped_job("b"))
    ((id_, _),) = queues_of(state.plan(NOW))
    state.outcome(Outcome(id_, "ok", 50))
    tell(state, stamped_job("c"))
    assert queues_of(state.plan(NOW + 1)) == []
    tell(state, local_queue("lab", "etl", 50), stamped_job("d"))
    assert queues_of(state.plan(NOW + 2 * SEEN_AFTER)) == []


def test_a_failure_is_tried_again_later() -> None:
    state = state_with(profile(stamp={"queue": MADE}), local_queue(HOME, "small"), stamped_job())
    ((id_, _),) = queues_of(state.plan(NOW))
    state.outcome(Outcome(id_, "refused", message="no"))
    assert queues_of(state.plan(NOW)) == []
    assert len(queues_of(state.plan(NOW + 2))) == 1


def test_nothing_is_made_unless_a_profile_says_the_same() -> None:
    """The annotation may be left from earlier times, or somebody's invention while the webhooks were away."""
    for objects in ([], [profile(stamp={"queue": {"name": "etl"}})], [profile(stamp={"queue": MADE}, percent=101)]):
        state = state_with(local_queue(HOME, "small"), stamped_job(), *objects)
        assert queues_of(state.plan(NOW)) == []


def test_a_template_that_is_missing_is_told_and_waited_for() -> None:
    state = state_with(profile(stamp={"queue": MADE}), stamped_job())
    plan = state.plan(NOW)
    events = [one.effect for one in plan.effects if isinstance(one.effect, EmitEvent)]
    assert queues_of(plan) == []
    assert [one.reason for one in events if one.type == "Warning"] == ["QueueTemplateMissing"]
    for planned in plan.effects:
        state.outcome(Outcome(planned.id, "refused"))
    tell(state, local_queue(HOME, "small"))
    assert len(queues_of(state.plan(NOW + 2))) == 1


def test_a_profile_says_whether_it_counts() -> None:
    (good,) = status_of(state_with(profile()).plan(NOW))
    assert (good["conditions"][0]["status"], good["conditions"][0]["reason"]) == ("True", "Ready")
    (bad,) = status_of(state_with(profile(percent=101)).plan(NOW))
    assert (bad["conditions"][0]["status"], bad["conditions"][0]["reason"]) == ("False", "Invalid")
    assert "spec.percent" in bad["conditions"][0]["message"]


def test_how_many_jobs_carry_its_stamp_is_told_after_a_while_and_in_one_write() -> None:
    state = at_rest()
    tell(state, *(stamped_job(name) for name in "abc"))
    assert status_of(state.plan(NOW + 1)) == []
    (said,) = status_of(state.plan(NOW + 1 + TALLY_SECONDS))
    assert (said["matched"], said["lastMatched"]) == (3, "1970-01-01T00:10:00Z")


def test_what_is_part_of_a_stamped_job_is_not_counted_again() -> None:
    state = at_rest()
    child = stamped_job("child")
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "a", "uid": "s-1", "controller": True}
    child["metadata"]["ownerReferences"] = [owner]
    tell(state, child)
    assert status_of(state.plan(NOW + 1 + TALLY_SECONDS)) == []
