"""ClusterColocationProfiles beyond single pods: templates of jobs, roll-outs, patches, and what stays when all is said
twice; Koordinator's rules about what changes."""

import json
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings

from admission.answers import Request, answer, hooks_for
from admission.api.documents import Unreadable
from admission.configuration.koordinator import BadKoordinator, read_koordinator
from admission.model.amounts import amount
from admission.model.configuration import DEFAULTS
from admission.model.kinds import Ref
from admission.model.qos import BANDS, EXTENDED_RESOURCE_SPEC, MID, PROD, Koordinator, band
from admission.model.queues import PriorityClass
from admission.readers.colocation_profile import read_colocation_profile
from admission.stamping.colocation import COLOCATION, Around, CannotStamp, colocate
from admission.stamping.strategic_merge import CannotMerge, merged_pod
from admission.stamping.translation import note_extended_resources, translate
from admission.world.answers import Answer
from admission.world.webhooks import StoredView
from admission.world.world import World
from controller.cli.playing import prepared
from tests.core.test_colocation_table import BATCH, Profiles, cluster_of, frozen, manifest_of
from tests.core.test_readers_garbage import garbage

QOS = "koordinator.sh/qosClass"
CPU = "kubernetes.io/batch-cpu"


def cluster(profiles: Profiles = BATCH) -> World:
    return cluster_of("compatible", frozen(profiles))


def job(kind: str = "Job", words: str = "cpu=1 limit.cpu=2", **metadata: Any) -> dict[str, Any]:
    pod = manifest_of(words)
    template = {"metadata": {"labels": pod["metadata"]["labels"]}, "spec": {**pod["spec"], "restartPolicy": "Never"}}
    template["spec"].pop("priority", None)  # a template has none: pods get it from their class
    meta = {"name": "train", "namespace": "colo", "labels": {"kueue.x-k8s.io/queue-name": "q"}, **metadata}
    if kind == "Job":
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}}
    specs = {"Launcher": {"replicas": 1, "template": template}, "Worker": {"replicas": 2, "template": template}}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": meta,
        "spec": {"mpiReplicaSpecs": specs},
    }


def new(world: World, manifest: dict[str, Any]) -> Any:
    answer = world.api.create(manifest, dry_run=True)
    assert answer.body is not None, answer.message
    return answer.body


def test_every_pod_template_of_a_job_is_stamped_and_the_job_itself_is_not() -> None:
    for kind in ("Job", "MPIJob"):
        body = new(cluster(), job(kind))
        spec = body["spec"]
        roles = [spec] if kind == "Job" else list(spec["mpiReplicaSpecs"].values())
        for template in (role["template"] for role in roles):
            container = template["spec"]["containers"][0]
            assert template["metadata"]["labels"][QOS] == "BE"
            stated = container["resources"]  # of a Job as Kubernetes writes it: 1k
            assert {field: amount(CPU, found.pop(CPU)) for field, found in stated.items()} == {
                "requests": 1000,
                "limits": 2000,
            }
            assert not any(stated.values())
            # Its pods get both from their class, when they are made.
            assert template["spec"]["priorityClassName"] == "koord-batch"
            assert not {"priority", "preemptionPolicy"} & template["spec"].keys()
        assert QOS not in body["metadata"]["labels"]


def test_stamping_twice_is_stamping_once() -> None:
    profile = {"labels": {"app": "web"}, "labelKeysMapping": {"a": "b", "b": "a"}, "labelSuffixes": {"a": "-s"}}
    world = cluster({"p": profile, "q": {"selector": {"matchLabels": {"app": "web"}}, "labels": {"hit": "y"}}, **BATCH})
    for manifest in (job(words="cpu=1 label.a=1 label.b=2"), manifest_of("cpu=1 label.a=1 label.b=2")):
        once = new(world, deepcopy(manifest))
        assert new(world, deepcopy({**once, "metadata": {**once["metadata"]}}))["spec"] == once["spec"]
        assert new(world, deepcopy(once))["metadata"]["labels"] == once["metadata"]["labels"]


def test_pods_of_a_stamped_template_are_left_alone_and_a_mark_that_somebody_wrote_saves_nobody() -> None:
    world = cluster({"p": {"labels": {"team": "x"}, "labelSuffixes": {"run": "-s"}}})
    template = new(world, job(words="label.run=1"))["spec"]["template"]
    assert template["metadata"]["labels"]["run"] == "1-s"
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u", "controller": True}
    pod = {"apiVersion": "v1", "kind": "Pod", **deepcopy(template)}
    pod["metadata"] |= {"name": "train-0", "namespace": "colo", "ownerReferences": [owner]}
    del pod["metadata"]["labels"]["team"]
    assert "team" not in new(world, deepcopy(pod))["metadata"]["labels"]
    del pod["metadata"]["ownerReferences"]
    labels = new(world, deepcopy(pod))["metadata"]["labels"]
    assert (labels["run"], labels["team"]) == ("1-s", "x")


def test_a_share_is_a_share_and_pods_of_one_owner_are_treated_alike() -> None:
    world = cluster({"p": {"probability": "25%", "labels": {"hit": "y"}}})

    def hit(owner: int, name: str) -> bool:
        pod = manifest_of("cpu=1")
        reference = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "r",
            "uid": f"u-{owner}",
            "controller": True,
        }
        pod["metadata"] |= {"name": name, "ownerReferences": [reference]}
        return "hit" in new(world, pod)["metadata"]["labels"]

    hits = [hit(owner, "a") for owner in range(100)]
    assert 10 <= sum(hits) <= 40  # 25 expected; five deviations of a binomial off, and the draw is the same for ever
    assert all(hit(owner, "b") == hits[owner] for owner in range(20))


def test_what_each_container_has_of_batch_resources_is_noted() -> None:
    pod = new(cluster(), manifest_of("cpu=1 memory=1Gi limit.cpu=2 init.cpu=1"))
    assert json.loads(pod["metadata"]["annotations"][EXTENDED_RESOURCE_SPEC]) == {
        "containers": {
            "main": {"limits": {CPU: "2000"}, "requests": {CPU: "1000", "kubernetes.io/batch-memory": "1Gi"}}
        }
    }
    claimed = manifest_of("cpu=1")
    claimed["metadata"]["annotations"][EXTENDED_RESOURCE_SPEC] = '{"containers":{}}'
    assert EXTENDED_RESOURCE_SPEC not in new(cluster({"p": {}}), claimed)["metadata"]["annotations"]
    middle = new(cluster({"p": {"priorityClassName": "koord-mid"}}), manifest_of("cpu=1"))
    assert EXTENDED_RESOURCE_SPEC not in middle["metadata"]["annotations"]


def test_system_namespaces_and_our_own_are_nobodys_business() -> None:
    world = cluster()
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": DEFAULTS.namespace}})
    for namespace in ("kube-system", DEFAULTS.namespace):
        pod = manifest_of("qos=LSR cpu=1500m")
        pod["metadata"]["namespace"] = namespace
        assert new(world, pod)["spec"] == pod["spec"]


@pytest.mark.parametrize("words", ["label.app=etl cpu=1", "label.app=web cpu=1", "batch-cpu=5", "cpu=1"])
@pytest.mark.parametrize("kind", ["Pod", "Job", "MPIJob"])
def test_what_comes_over_the_wire_is_stamped_like_what_is_at_hand(kind: str, words: str) -> None:
    """Of most of it only the labels are decoded, before it is known whether any profile is for it."""
    world = cluster({"p": {"selector": {"matchLabels": {"app": "etl"}}, "labels": {"hit": "y"}}})
    manifest = manifest_of(words) if kind == "Pod" else job(kind, words)
    (hook,) = (one for one in hooks_for(kind, "CREATE") if one.verb == "mutate")
    view = StoredView(DEFAULTS, world.api.peek, world.api.scan)
    said = [
        answer(hook.path, Request("CREATE", "colo", document), view)
        for document in (manifest, msgspec.Raw(msgspec.json.encode(manifest)))
    ]
    assert said[0] == said[1]
    assert ('"hit":"y"' in msgspec.json.encode(said[0].patch).decode() or "/hit" in str(said[0].patch)) == (
        "etl" in words
    )


@given(garbage, garbage, garbage)
@settings(max_examples=30)
def test_nothing_that_json_can_hold_stops_a_profile_or_its_stamp(spec: Any, metadata: Any, profile: Any) -> None:
    pod = {"metadata": metadata, "spec": spec}
    assert (band(pod) or PROD) in BANDS
    read = read_colocation_profile({"metadata": {"name": "p"}, "spec": {**BATCH["p"], "patch": profile}})
    around = Around({}, 0, lambda name: PriorityClass(name, 5000))
    with suppress(CannotStamp, Unreadable):
        colocate(pod, [read], around, template=True)
        translate(pod, MID)
        note_extended_resources(pod)
    assert isinstance(read_colocation_profile({"spec": profile}).problem, str)


# --- rules


def test_an_illegal_pair_in_a_template_of_a_job_is_refused_when_the_job_is_created() -> None:
    world = cluster({})
    answer = world.api.create(job("MPIJob", "qos=LSR class=koord-batch cpu=2"), dry_run=True)
    assert "spec.mpiReplicaSpecs.Worker.template.metadata.labels[koordinator.sh/qosClass]: Forbidden" in answer.message
    assert "LSR goes with koord-prod" in answer.message
    assert world.api.create(job("MPIJob", "qos=LSR class=koord-prod cpu=2"), dry_run=True).ok


def test_quality_stays_as_it_was_in_pods_and_in_templates() -> None:
    world = World(autostart=False)
    for name, value in (("koord-prod", 9000), ("koord-mid", 7000)):
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        world.api.create({**kind, "value": value})
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "colo"}})
    assert world.api.create(manifest_of("qos=LS class=koord-prod sub=3 cpu=1")).ok
    assert world.api.create(job("MPIJob", "qos=LS class=koord-prod sub=3 cpu=1")).ok
    pod, trained = Ref("Pod", "colo", "pod"), Ref("MPIJob", "colo", "train")

    def of_a_worker(patch: Any) -> Any:
        return {"spec": {"mpiReplicaSpecs": {"Worker": {"template": patch}}}}

    for field, patch in (
        (f"metadata.labels[{QOS}]", {"metadata": {"labels": {QOS: "BE"}}}),
        ("metadata.labels[koordinator.sh/priority]", {"metadata": {"labels": {"koordinator.sh/priority": "4"}}}),
        (
            "metadata.labels[koordinator.sh/priority-class]",
            {"metadata": {"labels": {"koordinator.sh/priority-class": "koord-mid"}}},
        ),
    ):
        assert _refused(world.api.patch(pod, patch), field)
        where = f"spec.mpiReplicaSpecs.Worker.template.{field}"
        assert _refused(world.api.patch(trained, of_a_worker(patch)), where)
    renamed = {"spec": {"priorityClassName": "koord-mid"}}
    assert _refused(world.api.patch(trained, of_a_worker(renamed)), "Worker.template.spec.priority")
    assert world.api.patch(pod, {"metadata": {"labels": {"x": "y"}}}).ok


def _refused(answer: Answer, field: str) -> bool:
    return not answer.ok and f"{field}: Invalid value" in answer.message and "field is immutable" in answer.message


def test_a_pod_that_was_there_before_the_rules_can_still_change_and_go() -> None:
    world = World(autostart=False)
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "colo"}})
    old = manifest_of("qos=BE cpu=1")
    old["metadata"]["finalizers"] = ["example.com/hold"]
    assert world.api.create(old).ok  # nobody speaks Koordinator's language yet
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "koord-batch"}}
    world.api.create({**kind, "value": 5000})
    ref = Ref("Pod", "colo", "pod")
    assert world.api.patch(ref, {"metadata": {"labels": {"x": "y"}}}).ok
    world.api.delete(ref)
    assert world.api.patch(ref, {"metadata": {"finalizers": None}}).ok
    assert not world.api.create(manifest_of("qos=BE cpu=1")).ok


# --- patches, as the API server merges them


POD: dict[str, Any] = {
    "metadata": {"labels": {"a": "1"}, "finalizers": ["f/1"]},
    "spec": {
        "containers": [
            {"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}], "args": ["1"]},
            {"name": "b"},
        ],
        "tolerations": [{"key": "k"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
}


@pytest.mark.parametrize(
    ("patch", "path", "outcome"),
    [
        ({"metadata": {"labels": {"b": "2"}}}, "metadata labels", {"a": "1", "b": "2"}),
        ({"metadata": {"labels": {"a": None}}}, "metadata labels", {}),
        ({"metadata": {"labels": {"$patch": "replace", "b": "2"}}}, "metadata labels", {"b": "2"}),
        ({"metadata": {"finalizers": ["f/1", "f/2"]}}, "metadata finalizers", ["f/1", "f/2"]),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": ["f/1"]}}, "metadata finalizers", []),
        # New entries come before those that the patch does not name.
        ({"spec": {"containers": [{"name": "c"}]}}, "spec containers *name", ["c", "a", "b"]),
        ({"spec": {"containers": [{"name": "b", "image": "i"}]}}, "spec containers *name", ["a", "b"]),
        ({"spec": {"containers": [{"name": "b"}, {"name": "a"}]}}, "spec containers *name", ["b", "a"]),
        ({"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}, "spec containers *name", ["b"]),
        ({"spec": {"containers": [{"$patch": "replace"}, {"name": "z"}]}}, "spec containers *name", ["z"]),
        (
            {
                "spec": {
                    "containers": [{"name": "a", "env": [{"name": "Y", "value": "3"}, {"name": "Z", "value": "4"}]}]
                }
            },
            "spec containers 0 env *value",
            ["1", "3", "4"],
        ),
        ({"spec": {"containers": [{"name": "a", "args": ["2"]}]}}, "spec containers 0 args", ["2"]),
        ({"spec": {"tolerations": [{"key": "z"}]}}, "spec tolerations", [{"key": "z"}]),  # no keys: replaced
        (
            {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}]}},
            "spec volumes",
            [{"name": "v", "hostPath": {"path": "/"}}],
        ),
        ({"spec": {"imagePullSecrets": [{"name": "s"}]}}, "spec imagePullSecrets", [{"name": "s"}]),
    ],
)
def test_a_patch_is_merged_as_the_api_server_merges_it(patch: Any, path: str, outcome: Any) -> None:
    before = deepcopy(POD)
    found: Any = merged_pod(POD, patch)
    for step in path.split():
        if step.startswith("*"):
            found = [entry[step[1:]] for entry in found]
        else:
            found = found[int(step) if step.isdigit() else step]
    assert found == outcome
    assert before == POD


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"spec": {"containers": ["a"]}}, "spec.containers[0]: must be an object"),
        ({"spec": {"containers": [{"image": "i"}]}}, "spec.containers[0]: has no name"),
        ({"spec": {"containers": [{"name": "a", "$patch": "merge"}]}}, "spec.containers[0].$patch: must be"),
        ({"spec": {"$patch": "merge"}}, "spec.$patch: must be"),
        ({"spec": {"volumes": {"name": "v"}}}, "spec.volumes: must be a list"),
        ({"spec": {"volumes": [{"name": "v", "$retainKeys": "name"}]}}, "spec.volumes[v].$retainKeys: must be a list"),
        ({"metadata": {"finalizers": [1]}}, "metadata.finalizers: must be a list of texts"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_with_its_field(patch: Any, said: str) -> None:
    with pytest.raises(CannotMerge) as told:
        merged_pod(POD, patch)
    assert str(told.value).startswith(said)


# --- options


def test_bands_can_be_others() -> None:
    words = read_koordinator("strict", "Prod=900-999, Batch=500-599")
    assert (words.preset, [(band.lowest, band.highest, band.default) for band in words.bands]) == (
        "strict",
        [(900, 999, 950), (7000, 7999, 7500), (500, 599, 550), (3000, 3999, 3500)],
    )
    assert read_koordinator() == Koordinator()
    world = World(replace(DEFAULTS, koordinator=words), autostart=False)
    for kind, name, more in (("PriorityClass", "koord-batch", {"value": 510}), ("Namespace", "colo", {})):
        group = "scheduling.k8s.io/v1" if more else "v1"
        world.api.create({"apiVersion": group, "kind": kind, "metadata": {"name": name}, **more})
    assert world.api.create(manifest_of("qos=BE priority=510 batch-cpu=1"), dry_run=True).ok
    assert not world.api.create(manifest_of("qos=BE priority=5100 batch-cpu=1"), dry_run=True).ok


@pytest.mark.parametrize(
    ("preset", "bands", "said"),
    [
        ("lax", None, "--koordinator-preset lax: must be compatible or strict"),
        (None, "Prod", "--koordinator-bands Prod: must be one of Prod, Mid, Batch, Free and a range"),
        (None, "Gold=1-2", "--koordinator-bands Gold=1-2: must be one of"),
        (None, "Prod=2-1", "--koordinator-bands Prod=2-1: must go up"),
        (None, "Prod=5500-9999", "Prod and Mid share priorities"),
    ],
)
def test_what_is_no_preset_and_no_range_is_refused(preset: str | None, bands: str | None, said: str) -> None:
    with pytest.raises(BadKoordinator, match=said.replace("(", "\\(")):
        read_koordinator(preset, bands)


def test_people_see_which_profiles_were_applied() -> None:
    pod = new(cluster({"a": {"labels": {"t": "1"}}, "b": {"probability": 0}}), manifest_of("label.t=0"))
    said = json.loads(pod["metadata"]["annotations"][COLOCATION])
    assert said == {"profiles": ["a"], "labels": {"t": "0"}}


def test_a_simulated_job_asks_for_what_its_profile_makes_of_it(tmp_path: Path) -> None:
    quota = {"name": CPU, "nominalQuota": "3000"}
    flavors = [{"name": "std", "resources": [quota]}]
    objects = [
        {**_of("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "std")},
        {
            **_of("kueue.x-k8s.io/v1beta2", "ClusterQueue", "cq"),
            "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": [CPU], "flavors": flavors}]},
        },
        {**_of("kueue.x-k8s.io/v1beta2", "LocalQueue", "q", namespace="colo"), "spec": {"clusterQueue": "cq"}},
        {**_of("scheduling.k8s.io/v1", "PriorityClass", "koord-batch"), "value": 5000},
        {**_of("config.koordinator.sh/v1alpha1", "ClusterColocationProfile", "p"), "spec": BATCH["p"]},
        *(job(words="cpu=1", name=f"train-{index}") for index in range(4)),
    ]
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(objects))
    simulation, _ = prepared([tmp_path])
    simulation.run()
    running = [key for key, story in simulation.stories.items() if story.started is not None]
    assert len(running) == 3
    assert simulation.peaks == {("cq", ("std", CPU)): 3000}


def _of(api_version: str, kind: str, name: str, **metadata: str) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **metadata}}
