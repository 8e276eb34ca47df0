"""Words of other systems become ours, and those that contradict each other are refused with both."""

import copy
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.api.documents import Unreadable
from admission.jobs import JOB_KINDS
from admission.model.names import (
    MIN_PARALLELISM,
    PREFERRED_TOPOLOGY,
    PRIORITY_CLASS,
    QUEUE_NAME,
    REQUIRED_TOPOLOGY,
)
from admission.stamping.foreign_hints import ECOSYSTEMS, NAMESPACE_LABEL, Translation, ecosystems, named, translate
from admission.stamping.foreign_hints.alias import PREEMPTIBLE, Alias
from admission.stamping.foreign_hints.yunikorn import queue_name
from admission.world.scenario.foreign import gang_of
from admission.world.world import World

DOC = Path(__file__).parents[2] / "docs" / "foreign-hints.md"
POD = {
    "restartPolicy": "Never",
    "containers": [{"name": "c", "image": "example.com/run:1", "resources": {"requests": {"cpu": "1"}}}],
}


def job(
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    pods: dict[str, Any] | None = None,
    parallelism: int = 4,
) -> dict[str, Any]:
    template = {"metadata": pods, "spec": POD} if pods else {"spec": POD}
    metadata = {"name": "a", "namespace": "lab", "labels": labels, "annotations": annotations}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {key: value for key, value in metadata.items() if value is not None},
        "spec": {"parallelism": parallelism, "completions": parallelism, "template": template},
    }


def spark(**spec: Any) -> dict[str, Any]:
    roles = {"driver": {"cores": 1, "memory": "1g"}, "executor": {"cores": 1, "memory": "1g", "instances": 2}}
    for role, own in roles.items():
        own.update(spec.pop(role, {}))
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "a", "namespace": "lab"},
        "spec": {"type": "Scala", "mode": "cluster", **roles, **spec},
    }


def pytorch(policy: dict[str, Any], workers: int = 3) -> dict[str, Any]:
    replicas = {"Worker": {"replicas": workers, "template": {"spec": POD}}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "a", "namespace": "lab"},
        "spec": {"runPolicy": {"schedulingPolicy": policy}, "pytorchReplicaSpecs": replicas},
    }


def ray(*groups: dict[str, Any], **labels: str) -> dict[str, Any]:
    workers = [{"template": {"spec": POD}, **group} for group in groups]
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "a", "namespace": "lab", "labels": labels},
        "spec": {"headGroupSpec": {"template": {"spec": POD}}, "workerGroupSpecs": workers},
    }


def hinted(manifest: dict[str, Any], *systems: str) -> Translation:
    kind = manifest["kind"]
    known, unknown = ecosystems(systems or ("all",))
    assert not unknown
    return translate(manifest, kind, JOB_KINDS.get(kind), known)


def labels(manifest: dict[str, Any]) -> dict[str, str]:
    return dict(manifest["metadata"].get("labels") or {})


QUEUES = [
    ("kai", "label", "kai.scheduler/queue", "vision", "vision"),
    ("kai", "label", "runai/queue", "vision", "vision"),
    ("kai", "label", "project", "vision", "vision"),
    ("volcano", "annotation", "scheduling.volcano.sh/queue-name", "vision", "vision"),
    ("volcano", "label", "scheduling.volcano.sh/queue-name", "vision", "vision"),
    ("volcano", "label", "volcano.sh/queue-name", "vision", "vision"),
    ("yunikorn", "label", "yunikorn.apache.org/queue", "root.Etl.night", "etl.night"),
    ("yunikorn", "annotation", "yunikorn.apache.org/queue", "etl.night", "etl.night"),
    ("yunikorn", "label", "queue", "root.test", "test"),
    ("koord-queue", "annotation", "kube-queue/queue-name", "vision", "vision"),
    ("koord-queue", "annotation", "koord-queue/queue-name", "vision", "vision"),
    ("koord-queue", "label", "quota.scheduling.koordinator.sh/name", "vision", "vision"),
    ("koord-queue", "label", "quota.scheduling.alibabacloud.com/name", "vision", "vision"),
]
PREEMPTION = [
    ("kai", "label", "kai.scheduler/preemptibility", "non-preemptible", "false"),
    ("kai", "label", "kai.scheduler/preemptibility", "preemptible", "true"),
    ("volcano", "annotation", "volcano.sh/preemptable", "T", "true"),
    ("volcano", "label", "volcano.sh/preemptable", "0", "false"),
    ("yunikorn", "annotation", "yunikorn.apache.org/allow-preemption", "false", "false"),
    ("koord-queue", "label", "quota.scheduling.koordinator.sh/preemptible", "false", "false"),
    ("koord-queue", "label", "quota.scheduling.koordinator.sh/preemptible", "False", "true"),
]
PRIORITY = [
    ("kai", "label", "priorityClassName", "build", "build"),
    ("kai", "label", "ray.io/priority-class-name", "build", "build"),
    ("volcano", "label", "ray.io/priority-class-name", "build", "build"),
]
TABLE = [
    *((*row, QUEUE_NAME) for row in QUEUES),
    *((*row, PREEMPTIBLE) for row in PREEMPTION),
    *((*row, PRIORITY_CLASS) for row in PRIORITY),
]


@pytest.mark.parametrize("on_pods", [False, True], ids=["on the job", "on its pods"])
@pytest.mark.parametrize(("system", "where", "key", "value", "ours", "becomes"), TABLE)
def test_a_hint_becomes_our_label(
    system: str, where: str, key: str, value: str, ours: str, becomes: str, on_pods: bool
) -> None:
    entries = {"labels" if where == "label" else "annotations": {key: value}}
    manifest = job(pods=entries) if on_pods else job(entries.get("labels"), entries.get("annotations"))
    said = hinted(manifest, system)
    assert not said.refusals
    assert labels(manifest)[becomes] == ours
    (written,) = said.written
    assert (written.system, written.field, written.value) == (system, f"metadata.labels[{becomes}]", ours)
    assert key in written.source


@pytest.mark.parametrize(("system", "where", "key", "value", "ours", "becomes"), TABLE)
def test_a_system_that_is_not_asked_for_says_nothing(
    system: str, where: str, key: str, value: str, ours: str, becomes: str
) -> None:
    manifest = job({key: value}) if where == "label" else job(None, {key: value})
    before = copy.deepcopy(manifest)
    asked = [one.name for one in ECOSYSTEMS.values() if not any(a.key == key and a.where == where for a in one.aliases)]
    assert hinted(manifest, *asked) == Translation()
    assert manifest == before


def test_two_hints_that_disagree_are_refused_with_both() -> None:
    said = hinted(job({"kai.scheduler/queue": "vision", "queue": "root.etl"}))
    (refusal,) = said.refusals
    for part in ("kai.scheduler/queue", '"root.etl"', "'vision'", "metadata.labels[queue]"):
        assert part in str(refusal)


def test_two_hints_that_mean_the_same_are_one() -> None:
    manifest = job({"yunikorn.apache.org/queue": "root.etl", "kai.scheduler/queue": "etl"})
    assert not hinted(manifest).refusals
    assert labels(manifest)[QUEUE_NAME] == "etl"


def test_what_is_said_in_our_words_stays_and_a_hint_may_only_repeat_it() -> None:
    manifest = job({QUEUE_NAME: "vision", "kai.scheduler/queue": "vision"})
    before = copy.deepcopy(manifest)
    assert hinted(manifest) == Translation()
    assert manifest == before
    (refusal,) = hinted(job({QUEUE_NAME: "vision", "kai.scheduler/queue": "etl"})).refusals
    assert QUEUE_NAME in str(refusal)
    assert "kai.scheduler/queue" in str(refusal)


def test_pod_templates_that_name_different_queues_are_refused() -> None:
    manifest = spark(driver={"labels": {"queue": "root.a"}}, executor={"labels": {"queue": "root.b"}})
    (refusal,) = hinted(manifest, "yunikorn").refusals
    assert str(refusal) == (
        "spec.executor.labels[queue]: Invalid value: \"root.b\": spec.driver.labels[queue] says 'root.a': "
        "both name the queue, take one of them away"
    )


def test_a_general_label_counts_only_where_no_special_one_does() -> None:
    manifest = job({"kai.scheduler/queue": "vision", "project": "apollo"})
    assert not hinted(manifest, "kai").refusals
    assert labels(manifest)[QUEUE_NAME] == "vision"
    manifest = job({"quota.scheduling.koordinator.sh/name": "team"}, {"kube-queue/queue-name": "fast"})
    assert not hinted(manifest, "koord-queue").refusals
    assert labels(manifest)[QUEUE_NAME] == "fast"


def test_the_queue_of_spark_counts_for_the_scheduler_that_it_names() -> None:
    for scheduler, ours in (("volcano", "root.etl"), ("yunikorn", "etl")):
        manifest = spark(batchScheduler=scheduler, batchSchedulerOptions={"queue": "root.etl"})
        assert not hinted(manifest).refusals
        assert labels(manifest)[QUEUE_NAME] == ours


def test_the_policy_of_kubeflow_names_queue_and_gang() -> None:
    manifest = pytorch({"queue": "vision", "minAvailable": 2})
    said = hinted(manifest, "volcano")
    assert labels(manifest)[QUEUE_NAME] == "vision"
    (warning,) = said.warnings
    assert warning == (
        "spec.runPolicy.schedulingPolicy.minAvailable: a gang of 2 of 3 pods is not taken over: "
        "a PyTorchJob is admitted with all of its pods"
    )
    assert not hinted(pytorch({"minAvailable": 3})).warnings


GANGS = [  # annotations of the pods -> least parallelism of a Job with 4 pods
    ({"scheduling.volcano.sh/group-min-member": "3"}, "3"),
    ({"gang.scheduling.koordinator.sh/min-available": "2"}, "2"),
    ({"yunikorn.apache.org/task-groups": '[{"name":"a","minMember":1},{"name":"b","minMember":2}]'}, "3"),
    ({"scheduling.volcano.sh/group-min-member": "4"}, None),
    ({"scheduling.volcano.sh/group-min-member": "5"}, None),
    ({"scheduling.volcano.sh/group-min-member": "some"}, None),
    ({"yunikorn.apache.org/task-groups": "[{}]"}, None),
    ({"yunikorn.apache.org/task-groups": '[{"minMember":true}]'}, None),
]


@pytest.mark.parametrize(("annotations", "least"), GANGS)
def test_the_smallest_gang_of_a_batch_job_is_its_least_parallelism(
    annotations: dict[str, str], least: str | None
) -> None:
    manifest = job(pods={"annotations": annotations})
    said = hinted(manifest)
    assert (manifest["metadata"].get("annotations") or {}).get(MIN_PARALLELISM) == least
    assert bool(said.warnings) == (least is None and annotations != {"scheduling.volcano.sh/group-min-member": "4"})


def test_gangs_of_different_sizes_are_refused() -> None:
    both = {"scheduling.volcano.sh/group-min-member": "2", "gang.scheduling.koordinator.sh/min-available": "3"}
    assert len(hinted(job(pods={"annotations": both})).refusals) == 1
    said = hinted(job(annotations={MIN_PARALLELISM: "2"}, pods={"annotations": {**both, list(both)[1]: "2"}}))
    assert said == Translation()
    whole = {"scheduling.volcano.sh/group-min-member": "4"}
    assert len(hinted(job(annotations={MIN_PARALLELISM: "2"}, pods={"annotations": whole})).refusals) == 1


def test_the_author_of_a_ray_cluster_learns_that_all_of_it_has_to_fit() -> None:
    group = {"groupName": "g", "replicas": 3, "minReplicas": 1, "numOfHosts": 2}
    queue = {"kai.scheduler/queue": "vision"}
    (warning,) = hinted(ray(group, **queue), "kai").warnings
    assert warning == (
        "spec.workerGroupSpecs: KAI would start it with 3 of 7 pods (1 of headgroup, 2 of g): "
        "here it is admitted with all of its pods"
    )
    assert not hinted(ray({**group, "minReplicas": 3}, **queue), "kai").warnings
    cluster = ray(group, **queue)
    manifest = {**cluster, "kind": "RayJob", "spec": {"entrypoint": "x", "rayClusterSpec": cluster["spec"]}}
    (warning,) = hinted(manifest, "kai").warnings
    assert warning.startswith("spec.rayClusterSpec.workerGroupSpecs: KAI would start it with 3 of 7 pods")


def test_a_gang_of_ray_is_the_head_and_the_least_of_each_group() -> None:
    cluster = ray(
        {"groupName": "g", "replicas": 3, "minReplicas": 1, "numOfHosts": 2}, {"groupName": "h", "replicas": 4}
    )
    wanted = {"headgroup": 1, "g": 2, "h": 4}
    assert gang_of(cluster) == wanted
    assert gang_of({**cluster, "kind": "RayJob", "spec": {"rayClusterSpec": cluster["spec"]}}) == wanted
    assert gang_of(job(annotations={MIN_PARALLELISM: "2"})) == {"main": 2}


def test_topology_goes_onto_every_pod_template() -> None:
    manifest = spark()
    manifest["metadata"]["annotations"] = {"kai.scheduler/topology-required-placement": "example.com/rack"}
    assert not hinted(manifest).refusals
    for role in ("driver", "executor"):
        assert manifest["spec"][role]["annotations"] == {REQUIRED_TOPOLOGY: "example.com/rack"}


def test_a_template_has_one_wish_for_its_place() -> None:
    notes = {
        "kai.scheduler/topology-required-placement": "example.com/block",
        "kai.scheduler/topology-preferred-placement": "example.com/rack",
    }
    manifest = job(annotations=notes)
    (warning,) = hinted(manifest, "kai").warnings
    assert "example.com/rack" in warning
    written = manifest["spec"]["template"]["metadata"]["annotations"]
    assert written == {REQUIRED_TOPOLOGY: "example.com/block"}
    assert PREFERRED_TOPOLOGY not in written


def test_a_pod_says_all_of_itself() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "a",
            "labels": {"kai.scheduler/queue": "vision"},
            "annotations": {"kai.scheduler/topology-preferred-placement": "example.com/rack"},
        },
        "spec": POD,
    }
    assert not hinted(pod, "kai").refusals
    assert labels(pod)[QUEUE_NAME] == "vision"
    assert pod["metadata"]["annotations"][PREFERRED_TOPOLOGY] == "example.com/rack"  # type: ignore[index]


def test_a_pod_that_somebody_made_says_nothing_of_itself() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}
    metadata = {"name": "a", "labels": {"kai.scheduler/queue": "vision"}, "ownerReferences": [owner]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": POD}
    assert hinted(pod, "kai") == Translation()


def test_a_word_that_is_not_understood_is_told_and_changes_nothing() -> None:
    manifest = job({"kai.scheduler/preemptibility": "semi-preemptible", "kai.scheduler/node-pool": "a100"})
    before = copy.deepcopy(manifest)
    said = hinted(manifest, "kai")
    assert manifest == before
    assert [re.findall(r"'([^']+)'", warning)[0] for warning in said.warnings] == ["semi-preemptible", "a100"]


def test_the_label_of_a_namespace_names_systems() -> None:
    assert [one.name for one in ecosystems(named("yunikorn.kai"))[0]] == ["kai", "yunikorn"]
    assert [one.name for one in ecosystems(named("all"))[0]] == list(ECOSYSTEMS)
    assert ecosystems(named("kai.slurm"))[1] == ["slurm"]
    assert ecosystems(named("")) == ([], [])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("root.a.b", "a.b"),
        ("a.b", "a.b"),
        ("ROOT.A_b", "a-b"),
        ("root", "root"),
        ("root._x_.y", "x.y"),
        ("root.a@b:c", "a-b-c"),
    ],
)
def test_queues_of_yunikorn_have_names_that_objects_may_have(path: str, name: str) -> None:
    assert queue_name(path) == name


KEYS = [(alias.where, alias.key) for one in ECOSYSTEMS.values() for alias in one.aliases if alias.where != "field"]
odd = st.sampled_from(["a", "b", "root.a", "true", "false", "2", "", "[]", '[{"minMember":2}]', "ü", "x" * 99])
entry = st.tuples(st.sampled_from(KEYS), odd)


@settings(max_examples=30)
@given(st.lists(entry, max_size=4), st.lists(entry, max_size=4))
def test_what_was_translated_once_says_the_same_again(
    own: list[tuple[tuple[str, str], str]], pods: list[tuple[tuple[str, str], str]]
) -> None:
    def maps(entries: list[tuple[tuple[str, str], str]]) -> dict[str, dict[str, str]]:
        return {
            field: {key: value for (where, key), value in entries if where == of}
            for of, field in (("label", "labels"), ("annotation", "annotations"))
        }

    manifest = job(maps(own)["labels"], maps(own)["annotations"], maps(pods))
    before = copy.deepcopy(manifest)
    said = hinted(manifest)
    again = copy.deepcopy(manifest)
    second = hinted(again)
    assert second == Translation((), said.refusals, said.warnings)
    assert again == manifest
    if not said.written:
        assert manifest == before


garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["labels", "metadata", "spec", "x"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=30)
@given(st.sampled_from(sorted(JOB_KINDS)), garbage, garbage)
def test_no_manifest_breaks_it(kind: str, metadata: Any, spec: Any) -> None:
    hint = {"labels": {"kai.scheduler/queue": "a"}, "annotations": {"kai.scheduler/topology-required-placement": "r"}}
    manifest = {"apiVersion": "x/v1", "kind": kind, "metadata": hint, "spec": spec, "x": metadata}
    with suppress(Unreadable):
        json.dumps(hinted(manifest).warnings)


def cluster(label: str = "", *objects: dict[str, Any]) -> World:
    world = World()
    labels = {NAMESPACE_LABEL: label} if label else {}
    for manifest in (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab", "labels": labels}},
        *objects,
    ):
        answer = world.api.create(manifest)
        assert answer.ok, answer.message
    return world


def test_a_job_of_kai_waits_in_the_queue_that_it_names() -> None:
    world = cluster("kai")
    made = world.api.create(job({"kai.scheduler/queue": "vision", "kai.scheduler/preemptibility": "non-preemptible"}))
    assert made.body is not None
    assert made.body["spec"]["suspend"] is True
    assert made.body["metadata"]["labels"] == {
        "kai.scheduler/queue": "vision",
        "kai.scheduler/preemptibility": "non-preemptible",
        QUEUE_NAME: "vision",
        PREEMPTIBLE: "false",
    }


def test_where_nobody_asks_for_it_a_job_of_kai_is_left_alone() -> None:
    for label in ("", "volcano"):
        made = cluster(label).api.create(job({"kai.scheduler/queue": "vision"}))
        assert made.body is not None
        assert not made.body["spec"].get("suspend")
        assert made.body["metadata"]["labels"] == {"kai.scheduler/queue": "vision"}


def test_a_profile_asks_for_it_too() -> None:
    profile = {
        "apiVersion": "lockgate.dev/v1alpha1",
        "kind": "JobProfile",
        "metadata": {"name": "from-kai"},
        "spec": {"match": {"kinds": ["Job.batch"]}, "foreignHints": ["kai"]},
    }
    world = cluster("", profile)
    world.settle()
    made = world.api.create(job({"kai.scheduler/queue": "vision"}))
    assert made.body is not None
    assert made.body["spec"]["suspend"] is True
    assert made.body["metadata"]["labels"][QUEUE_NAME] == "vision"


def test_a_job_that_contradicts_itself_is_refused() -> None:
    answer = cluster("all").api.create(job({"kai.scheduler/queue": "vision", "volcano.sh/queue-name": "etl"}))
    assert answer.code == 403
    for part in ("kai.scheduler/queue", "volcano.sh/queue-name", "vision", "etl"):
        assert part in answer.message


def shown(system: str, alias: Alias) -> str:
    place = f"field `{alias.key}`" if alias.where == "field" else f"{alias.where} `{alias.key}`"
    of = f" of {', '.join(alias.kinds)}" if alias.kinds else ""
    when = f", where `{alias.when[0]}` is `{alias.when[1]}`" if alias.when else ""
    if_alone = ", where no other names one" if alias.fallback else ""
    words = ", ".join(f"`{theirs}` is `{ours}`" for theirs, ours in alias.words.items())
    return (
        f"| {system} | {place}{of}{when}{if_alone} | `{alias.meaning.key}` | {words or alias.explained or 'as it is'} |"
    )


def test_the_table_of_the_documentation_is_the_table() -> None:
    wanted = [shown(one.name, alias) for one in ECOSYSTEMS.values() for alias in one.aliases]
    told = [
        f"| {one.name} | {each.where} `{each.key}` | {each.why} |"
        for one in ECOSYSTEMS.values()
        for each in one.untranslated
    ]
    page = DOC.read_text(encoding="utf-8").splitlines()
    rows = [line for line in page if line.startswith(tuple(f"| {name} |" for name in ECOSYSTEMS))]
    assert rows == [*wanted, *told]
