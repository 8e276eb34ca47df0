"""What JobProfiles give to jobs: by order and overwrite, onto every pod template, once; and what must not change."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.answers import Request
from admission.answers.stamping import stamped_by_rules
from admission.jobs import JOB_KINDS
from admission.jobs.described import described
from admission.model.job_profile import JobProfile, in_order
from admission.readers.job_kind import read_job_kind
from admission.readers.job_profile import read_job_profile
from admission.stamping.difference import difference
from admission.stamping.incoming import incoming
from admission.stamping.matching import Subject
from admission.stamping.pipeline import Rules, Stamped, stamp_manifest
from admission.world.patches import patched
from tests.core.manifests import SAMPLES
from tests.core.test_job_profile import profile
from tests.core.test_stamping import Cluster

Object = dict[str, Any]
STAMPED, ROLLOUT, QUEUE_FROM = "lockgate.dev/stamped", "lockgate.dev/rollout", "lockgate.dev/queue-from"
QOS = "koordinator.sh/qosClass"


def read(*profiles: Object) -> tuple[JobProfile, ...]:
    found = {one["metadata"]["name"]: read_job_profile(one) for one in profiles}
    assert [one.problem for one in found.values()] == [""] * len(found)
    return in_order(found)


def gives(name: str, order: int = 0, overwrite: Any = "IfUnset", **stamp: Any) -> Object:
    return profile(name, order=order, overwrite=overwrite, stamp=stamp)


def job(labels: dict[str, str] | None = None, name: str | None = "a", **more: Any) -> Object:
    container = {"name": "c", "resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}}, "x-new-field": [1, None]}
    metadata = {"name": name, "labels": labels or {}, **more} if name else {"generateName": "a-", **more}
    return {"metadata": metadata, "spec": {"template": {"spec": {"containers": [container]}}}}


def stamp(
    manifest: Object, *profiles: Object, kind: str = "Job", user: str = "ada", uid: str = "u", **labels: str
) -> Stamped:
    """In place."""
    return stamped_by(read(*profiles), manifest, kind, user, uid, labels)


def stamped_by(
    profiles: tuple[JobProfile, ...], manifest: Object, kind: str, user: str, uid: str, labels: dict[str, str]
) -> Stamped:
    subject = Subject(kind, "lab", labels, user, ("staff",))
    return stamp_manifest(manifest, subject, JOB_KINDS[kind], Rules(profiles, uid=uid, telling=True))


def label(manifest: Object, name: str) -> str | None:
    found: str | None = manifest["metadata"].get("labels", {}).get(name)
    return found


# --- who is meant


@pytest.mark.parametrize(
    ("match", "why"),
    [
        ({"kinds": ["JobSet.jobset.x-k8s.io"]}, "spec.match.kinds: Job.batch is none of JobSet.jobset.x-k8s.io"),
        (
            {"namespaceSelector": {"matchLabels": {"tenant": "b"}}},
            "spec.match.namespaceSelector: the labels of namespace lab do not match",
        ),
        (
            {"objectSelector": {"matchLabels": {"tier": "prod"}}},
            "spec.match.objectSelector: asks for tier In prod, and the job has no such label",
        ),
        ({"users": ["eve", "bot-*"]}, "spec.match.users: ada is none of eve, bot-*"),
        ({"groups": ["admins"]}, "spec.match.groups: ada is in none of admins"),
    ],
)
def test_who_is_not_meant_is_told_why(match: Object, why: str) -> None:
    manifest = job()
    said = stamp(manifest, profile(match=match), tenant="a")
    assert manifest == job()
    assert [(one.rule, one.why) for one in said.skipped] == [("JobProfile etl", why)]


def test_whoever_meets_all_that_is_asked_is_stamped() -> None:
    match = {
        "kinds": ["Job.batch"],
        "namespaceSelector": {"matchLabels": {"tenant": "a"}},
        "objectSelector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["prod"]}]},
        "users": ["a*"],
        "groups": ["none", "staff"],
    }
    manifest = job()
    stamp(manifest, profile(match=match), tenant="a")
    assert label(manifest, "kueue.x-k8s.io/queue-name") == "etl"


# --- whose word counts


@pytest.mark.parametrize(
    ("author", "profiles", "expected"),
    [
        (None, [("a", 1, "Never")], "a"),
        (None, [("a", 1, "IfUnset"), ("b", 2, "Never")], "a"),
        (None, [("a", 1, "IfUnset"), ("b", 2, "IfUnset")], "b"),
        (None, [("b", 2, "IfUnset"), ("a", 1, "Always")], "b"),
        (None, [("a", 5, "IfUnset"), ("b", 5, "IfUnset")], "b"),
        ("mine", [("a", 1, "IfUnset"), ("b", 2, "Never")], "mine"),
        ("mine", [("a", 1, "Always"), ("b", 2, "IfUnset")], "a"),
        ("mine", [("a", 1, "Always"), ("b", 2, "Always")], "b"),
        ("", [("a", 1, "IfUnset")], "a"),
        ("mine", [("a", 1, {"default": "Always", "labels": "Never"})], "mine"),
        ("mine", [("a", 1, {"default": "Never", "labels": "Always"})], "a"),
    ],
)
def test_the_later_profile_counts_where_it_may_overwrite(
    author: str | None, profiles: list[tuple[str, int, Any]], expected: str
) -> None:
    manifest = job({} if author is None else {"x": author})
    rules = [gives(name, order, overwrite, labels={"x": name}) for name, order, overwrite in profiles]
    stamp(manifest, *rules)
    assert label(manifest, "x") == expected
    again = deepcopy(manifest)
    stamp(again, *rules)
    assert again == manifest


def test_profiles_that_disagree_are_named_with_what_they_give() -> None:
    said = stamp(job(), gives("a", 1, labels={"x": "1"}), gives("b", 2, labels={"x": "2"}))
    assert said.warnings == ("labels[x]: JobProfile a gives 1, b gives 2: the latter counts, as it comes later",)
    assert stamp(job(), gives("a", 1, labels={"x": "1"}), gives("b", 2, labels={"x": "1"})).warnings == ()


def test_a_selector_is_asked_of_what_the_author_wrote() -> None:
    """Else a profile that comes first would be for other jobs the second time."""
    late = {**gives("late", 1, labels={"found": "yes"})}
    late["spec"]["match"] = {"objectSelector": {"matchLabels": {"x": "1"}}}
    first = {**gives("first", 2, labels={"x": "1"})}
    manifest = job()
    stamp(manifest, late, first)
    assert label(manifest, "found") is None
    again = deepcopy(manifest)
    stamp(again, late, first)
    assert again == manifest


# --- where it goes


def test_the_job_and_its_templates_are_targets_of_their_own() -> None:
    only_job, only_pods = job(), job()
    stamp(only_job, profile(targets=["Job"], stamp={"qosClass": "BE", "priorityClassName": "low"}))
    stamp(only_pods, profile(targets=["PodTemplates"], stamp={"qosClass": "BE", "queue": {"name": "q"}}))
    assert label(only_job, QOS) == "BE"
    assert only_job["spec"] == job()["spec"]
    assert only_pods["metadata"]["annotations"] == {STAMPED: '{"etl":{}}'}  # it is one of the profile's jobs
    assert label(only_pods, QOS) is None
    assert only_pods["spec"]["template"]["metadata"]["labels"] == {QOS: "BE"}


def test_resources_follow_the_class_that_comes_of_it() -> None:
    manifest = job()
    stamp(manifest, gives("a", qosClass="BE", priorityClassName="koord-batch", resources="TranslateToClass"))
    requests = manifest["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"kubernetes.io/batch-cpu": "1500", "kubernetes.io/batch-memory": "1Gi"}


def test_the_scheduler_that_the_api_server_fills_in_is_nobodys_word() -> None:
    manifest = job()
    manifest["spec"]["template"]["spec"]["schedulerName"] = "default-scheduler"
    stamp(manifest, gives("a", schedulerName="koord-scheduler"))
    assert manifest["spec"]["template"]["spec"]["schedulerName"] == "koord-scheduler"


def test_the_template_of_a_missing_queue_is_noted_for_the_queue_that_was_given() -> None:
    create = {"name": "etl", "create": {"fromTemplate": "t"}}
    given_queue, own = job(), job({"kueue.x-k8s.io/queue-name": "mine"})
    for manifest in (given_queue, own):
        stamp(manifest, profile(stamp={"queue": create}))
    assert given_queue["metadata"]["annotations"][QUEUE_FROM] == "t"
    assert QUEUE_FROM not in own["metadata"]["annotations"]


def test_what_an_author_writes_in_our_annotations_is_not_taken_over() -> None:
    forged = {STAMPED: '{"etl":{"queue":null}}', ROLLOUT: "0", QUEUE_FROM: "everything"}
    manifest = job(annotations=dict(forged))
    said = stamp(manifest, profile(percent=0))
    assert manifest["metadata"]["annotations"] == {ROLLOUT: manifest["metadata"]["annotations"][ROLLOUT]}
    assert sum("is written by Lockgate alone" in warning for warning in said.warnings) >= 2


def test_the_words_of_another_system_count_where_a_profile_says_so_and_before_it_stamps() -> None:
    hinted = {"kai.scheduler/queue": "theirs"}
    manifest, other = job(dict(hinted)), job(dict(hinted))
    stamp(manifest, {**profile(foreignHints=["kai"])})
    stamp(other, profile())
    assert label(manifest, "kueue.x-k8s.io/queue-name") == "theirs"
    assert label(other, "kueue.x-k8s.io/queue-name") == "etl"


def test_a_pod_spec_without_metadata_gets_what_it_has_a_place_for() -> None:
    rules = {
        "kind": "Task.v1.experiments.example",
        "suspend": {"path": "spec.suspend"},
        "podSets": [{"name": "main", "podSpec": "spec.pod"}],
    }
    found = read_job_kind({"metadata": {"name": "task"}, "spec": rules})
    assert found.rules is not None
    manifest: Object = {"metadata": {"name": "a"}, "spec": {"pod": {"containers": [{"name": "c"}]}}}
    profiles = read(gives("a", qosClass="LS", schedulerName="koord-scheduler"))
    subject = Subject(found.kind, "lab", {}, "ada", ())
    said = stamp_manifest(manifest, subject, described(found.kind, found.rules), Rules(profiles, telling=True))
    assert manifest["spec"]["pod"] == {"containers": [{"name": "c"}], "schedulerName": "koord-scheduler"}
    assert [one.field for one in said.lines] == [f"metadata.labels[{QOS}]", "spec.pod.schedulerName"]


# --- roll-outs


def test_a_roll_out_takes_its_share_and_all_of_it_in_the_end() -> None:
    def taken(percent: int) -> set[int]:
        made = {number: job(name=f"job-{number}") for number in range(400)}
        profiles = read(profile(percent=percent))
        for one in made.values():
            stamped_by(profiles, one, "Job", "ada", "u", {})
        return {number for number, one in made.items() if label(one, "kueue.x-k8s.io/queue-name")}

    quarter, half = taken(25), taken(50)
    assert 70 < len(quarter) < 130
    assert quarter < half
    assert len(taken(100)) == 400
    assert taken(0) == set()


def test_a_job_without_a_name_keeps_the_number_of_its_first_review() -> None:
    first = job(name=None)
    stamp(first, profile(percent=50), uid="one")
    again = deepcopy(first)
    for uid in ("two", "three", "four", "five"):
        stamp(again, profile(percent=50), uid=uid)
    assert again == first


def test_what_one_owner_makes_is_drawn_alike() -> None:
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "c-1", "controller": True}
    made = [job(name=f"nightly-{number}", ownerReferences=[owner]) for number in range(20)]
    for one in made:
        stamp(one, profile(percent=50))
    assert len({one["metadata"]["annotations"][ROLLOUT] for one in made}) == 1


# --- laws

words = st.sampled_from(["1", "2"])
stamps = st.fixed_dictionaries(
    {},
    optional={
        "queue": st.fixed_dictionaries({"name": words}, optional={"create": st.just({"fromTemplate": "t"})}),
        "workloadPriorityClass": words,
        "priorityClassName": st.sampled_from(["koord-batch", "koord-mid", "high"]),
        "qosClass": st.sampled_from(["BE", "LS"]),
        "schedulerName": words,
        "labels": st.dictionaries(st.sampled_from(["x", "y"]), words),
        "annotations": st.dictionaries(st.sampled_from(["x", "y"]), words),
        "resources": st.just("TranslateToClass"),
    },
).filter(bool)
overwrites = st.sampled_from(["Never", "IfUnset", "Always", {"default": "Always", "labels": "Never"}])
selectors = st.none() | st.sampled_from(
    [{"matchLabels": {"x": "1"}}, {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}]
)


@st.composite
def some_profiles(draw: st.DrawFn) -> list[Object]:
    return [
        profile(
            name,
            order=draw(st.integers(0, 2)),
            stamp=draw(stamps),
            overwrite=draw(overwrites),
            percent=draw(st.sampled_from([50, 100])),
            match={} if (selector := draw(selectors)) is None else {"objectSelector": selector},
        )
        for name in ("a", "b", "c")
    ]


@given(st.sampled_from(sorted(SAMPLES)), st.data())
@settings(max_examples=12)
def test_stamping_twice_is_stamping_once_and_takes_nothing_away(kind: str, data: st.DataObject) -> None:
    _stamped_once(kind, data)


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(SAMPLES))
@given(st.data())
@settings(max_examples=300)
def test_stamping_twice_is_stamping_once_of_every_kind(kind: str, data: st.DataObject) -> None:
    _stamped_once(kind, data)


def _stamped_once(kind: str, data: st.DataObject) -> None:
    # As it comes over the wire: no part of it is two parts at once.
    before = json.loads(json.dumps(data.draw(SAMPLES[kind]).manifest))
    profiles = data.draw(some_profiles())
    once = deepcopy(before)
    stamp(once, *profiles, kind=kind)
    twice = deepcopy(once)
    assert stamp(twice, *profiles, kind=kind).lines == ()
    assert twice == once
    assert patched(before, difference(before, once)) == once
    assert _answered(kind, before, profiles) == once
    translated = any("resources" in one["spec"]["stamp"] for one in profiles)
    assert translated or _without_what_is_stamped(once) == _without_what_is_stamped(before)


def _answered(kind: str, manifest: Object, profiles: list[Object]) -> Object:
    """What the webhook makes of it, which copies no more than it has to."""
    cluster, kept = Cluster(), deepcopy(manifest)
    cluster.job_profiles = read(*profiles)
    request = Request("CREATE", "lab", manifest, username="ada", groups=("staff",), uid="u")
    metadata = incoming(kind, JOB_KINDS[kind], manifest).metadata
    given = stamped_by_rules(kind, JOB_KINDS[kind], manifest, metadata, request, cluster)
    assert manifest == kept
    made: Object = patched(manifest, given.patch)
    return made


_STAMPED = (
    *("labels", "annotations", "schedulerName", "priorityClassName", "podPriorityClassName", "podMetadata"),
    *("priority", "preemptionPolicy"),
)


def _without_what_is_stamped(value: Any) -> Any:
    """All that no profile can speak of."""
    if isinstance(value, list):
        return [_without_what_is_stamped(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _without_what_is_stamped(one) for name, one in value.items() if name not in _STAMPED}
    return {name: one for name, one in kept.items() if not (name == "metadata" and one == {})}
