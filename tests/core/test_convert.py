"""Queues of other systems as ours: worked out by hand, accepted by our own validation, and played."""

import itertools
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from admission.migration import SYSTEMS, Converted, Surroundings, convert
from admission.migration.kai_shares import kai_shares
from admission.model.amounts import amount
from admission.readers.cluster_queue import read_cluster_queue
from admission.readers.cohort import read_cohort
from admission.tree import Tree
from admission.world.scenario.case import read_case
from admission.world.scenario.source import BadFile
from controller.cli.__main__ import app
from controller.cli.complaint import Complaint
from controller.cli.playing import prepared

FOLDER = Path(__file__).parent / "foreign_queues"
G = "nvidia.com/gpu"
RUNNER = CliRunner()


def documents(system: str) -> list[Any]:
    found: list[Any] = []
    for one in yaml.safe_load_all((FOLDER / f"{system}.yaml").read_text(encoding="utf-8")):
        found += one["items"] if one["kind"] == "List" else [one]
    return [yaml.safe_load(one["data"]["queues.yaml"]) for one in found] if system == "yunikorn" else found


def converted(system: str, found: list[Any] | None = None, **total: str) -> Converted:
    known = {name.replace("gpu", G): amount(name.replace("gpu", G), value) for name, value in total.items()}
    result = convert(system, documents(system) if found is None else found, Surroundings(known, ("lab",)))
    assert not result.faults
    return result


def quotas(result: Converted) -> dict[str, dict[str, tuple[str, ...]]]:
    """By kind and name, then by resource: nominal, borrowing limit, lending limit (- for none)."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for one in result.objects:
        if one["kind"] in ("Cohort", "ClusterQueue"):
            parent = one["spec"].get("parentName") or one["spec"].get("cohortName") or ""
            found[f"{one['kind']} {parent}/{one['metadata']['name']}"] = {
                each["name"]: (each["nominalQuota"], each.get("borrowingLimit", "-"), each.get("lendingLimit", "-"))
                for group in one["spec"].get("resourceGroups", ())
                for each in group["flavors"][0]["resources"]
            }
    return found


def specs(result: Converted, kind: str) -> dict[str, Any]:
    return {one["metadata"]["name"]: one.get("spec") for one in result.objects if one["kind"] == kind}


def notes(result: Converted) -> list[str]:
    return [f"{note.about}: {note.field}" for note in result.notes]


FIRM = {"nonPreemptible": {"label": "lockgate.dev/preemptible=false"}}
NOTHING, WHOLE = ("0", "-", "-"), ("100Pi", "0", "0")


def test_queues_of_kai() -> None:
    result = converted("kai")
    assert quotas(result) == {
        "Cohort /kai": {},
        # 10 GPUs, of which vision has 4 and spare none; 16 at most are 6 beyond the 10.
        "Cohort kai/dept": {"cpu": ("1G", "0", "0"), "memory": WHOLE, G: ("6", "6", "-")},
        # KAI counts millicores and millions of bytes.
        "ClusterQueue dept/vision": {"cpu": ("64", "-", "-"), "memory": ("500000000Ki", "-", "-"), G: ("4", "4", "-")},
        # Half a GPU is none, and without a weight nothing is borrowed; a missing weight matters not to -1.
        "ClusterQueue dept/spare": {
            "cpu": ("1G", "0", "0"),
            "memory": ("1000000000", "1000000000", "-"),
            G: ("0", "0", "-"),
        },
    }
    assert {one["metadata"]["name"]: one["value"] for one in result.objects if "value" in one} == {
        "train": 50,
        "build-preemptible": 75,
        "build": 100,
        "inference": 125,
    }
    assert specs(result, "ClusterQueue")["vision"]["fairSharing"] == {"weight": "2"}
    # Only preemptible work may borrow, whoever's it is.
    assert specs(result, "QueuePolicy") == {
        "kai": {"target": {"kind": "Cohort", "name": "kai"}, **FIRM},
        "vision": {
            "target": {"kind": "ClusterQueue", "name": "vision"},
            "preemption": {"minRuntime": "10m", "reclaimMinRuntime": "5m"},
        },
    }
    assert notes(result) == [
        "Queue dept: spec.displayName",
        "Queue vision: spec.resources.cpu.overQuotaWeight",
        "Queue vision: spec.resources.memory.overQuotaWeight",
        "Queue spare: spec.resources.gpu.quota",
        "Queue vision: spec.priority",
        "Queue spare: spec.priority",
        "fairSharing: weight",
    ]


def test_what_the_cluster_has_beyond_all_quotas_belongs_to_the_root() -> None:
    found = quotas(converted("kai", cpu="640", memory="4Ti", gpu="24"))
    assert found["Cohort /kai"] == {"cpu": ("640", "-", "-"), "memory": ("4Ti", "-", "-"), G: ("14", "-", "-")}
    assert found["Cohort kai/dept"]["cpu"] == ("576", "0", "0")
    assert found["ClusterQueue dept/spare"]["cpu"] == ("640", "0", "0")


def kai(name: str, parent: str = "", /, **gpu: Any) -> dict[str, Any]:
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    spec = {"resources": {"cpu": free, "memory": free, "gpu": gpu}} | ({"parentQueue": parent} if parent else {})
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(
    ("gpu", "entry", "field"),
    [
        ({"quota": 2, "limit": -1, "overQuotaWeight": 1}, ("2", "-", "-"), ""),
        ({"quota": 2, "limit": 5, "overQuotaWeight": 1}, ("2", "3", "-"), ""),
        ({"quota": 2, "limit": 5, "overQuotaWeight": 0}, ("2", "0", "-"), ""),
        ({"quota": 5, "limit": 2, "overQuotaWeight": 1}, ("2", "0", "-"), "spec.resources.gpu.quota"),
        ({"quota": 2, "overQuotaWeight": 1}, ("0", "0", "-"), "spec.resources.gpu.limit"),
        ({"quota": -1, "limit": 4}, ("4", "0", "0"), ""),
        ({"quota": -1, "limit": -1}, ("1G", "0", "0"), ""),
        ({}, ("0", "0", "-"), "spec.resources.gpu.limit"),
    ],
)
def test_the_numbers_of_kai(gpu: dict[str, int], entry: tuple[str, ...], field: str) -> None:
    result = converted("kai", [kai("a", **gpu)])
    assert quotas(result)["ClusterQueue kai/a"][G] == entry
    assert ([note.field for note in result.notes] or [""])[0] == field


def test_unlimited_below_a_queue_that_is_not_is_borrowed_from_there() -> None:
    result = converted("kai", [kai("dept", quota=8, limit=8), kai("a", "dept", quota=-1, limit=-1)])
    assert quotas(result)["Cohort kai/dept"][G] == ("8", "0", "-")
    assert quotas(result)["ClusterQueue dept/a"][G] == NOTHING


def test_a_limit_above_bounds_who_is_unlimited_below() -> None:
    found = quotas(converted("kai", [kai("dept", quota=-1, limit=6), kai("a", "dept", quota=-1, limit=-1)]))
    assert found["Cohort kai/dept"][G] == ("6", "0", "0")
    assert found["ClusterQueue dept/a"][G] == NOTHING


def test_what_grandchildren_own_is_no_part_of_what_their_grandparent_keeps() -> None:
    queues = [
        kai("top", quota=10, limit=-1),
        kai("mid", "top", quota=-1, limit=-1),
        kai("low", "mid", quota=4, limit=4),
    ]
    found = quotas(converted("kai", queues, gpu="12"))
    assert found["Cohort /kai"][G] == ("2", "-", "-")
    assert found["Cohort kai/top"][G] == ("6", "0", "-")
    assert found["Cohort top/mid"][G] == NOTHING
    assert found["ClusterQueue mid/low"][G] == ("4", "0", "-")


def test_children_may_own_more_than_their_parent_and_it_is_told() -> None:
    queues = [kai("dept", quota=3, limit=-1, overQuotaWeight=1)]
    queues += [kai(name, "dept", quota=2, limit=-1, overQuotaWeight=1) for name in "ab"]
    result = converted("kai", queues)
    assert quotas(result)["Cohort kai/dept"][G] == NOTHING
    assert "Queue dept: nvidia.com/gpu" in notes(result)


def test_queues_of_volcano() -> None:
    result = converted("volcano")
    assert quotas(result) == {
        "Cohort /root": {},
        # 8 GPUs are eng's own: train's 6 are on other nodes. 12 at most.
        "Cohort root/eng": {"cpu": ("1G", "0", "0"), "memory": WHOLE, G: ("8", "4", "-")},
        # Of 6 that it deserves it lends 4, as 2 are guaranteed.
        "ClusterQueue eng/train": {"cpu": ("40", "-", "-"), "memory": WHOLE, G: ("6", "2", "4")},
        # Who deserves nothing owns nothing of what others deserve; memory is deserved by nobody.
        "ClusterQueue eng/best-effort": {"cpu": NOTHING, "memory": ("64Gi", "0", "0"), G: NOTHING},
    }
    queues = specs(result, "ClusterQueue")
    assert queues["train"]["queueingStrategy"] == "StrictFIFO"
    assert queues["train"]["resourceGroups"][0]["flavors"][0]["name"] == "a100"
    assert specs(result, "ResourceFlavor")["a100"] == {"nodeLabels": {"volcano.sh/nodegroup-name": "a100"}}
    assert queues["best-effort"]["stopPolicy"] == "Hold"
    assert notes(result) == [
        "Queue train: spec.reclaimable",
        "Queue train: metadata.annotations[volcano.sh/overcommit-factor]",
        "Queue best-effort: spec.extendClusters",
        "Queue train: spec.priority",
        "Queue best-effort: spec.priority",
        "Queue train: spec.weight",
        "Queue root: spec",
        "Queue train: flavor",
    ]


def volcano(name: str, weight: int, parent: str = "root") -> dict[str, Any]:
    spec = {"weight": weight, "parent": parent, "reclaimable": True}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": spec,
    }


def test_by_weight_volcano_divides_the_cluster_and_each_share_again() -> None:
    queues = [volcano("a", 1), volcano("b", 3), volcano("b1", 1, "b"), volcano("b2", 2, "b")]
    found = quotas(converted("volcano", queues, gpu="16"))
    assert found["Cohort /root"] == {}
    assert found["ClusterQueue root/a"][G] == ("4", "-", "-")
    assert found["Cohort root/b"][G] == NOTHING
    assert found["ClusterQueue b/b1"][G] == ("4", "-", "-")
    assert found["ClusterQueue b/b2"][G] == ("8", "-", "-")


def test_by_weight_of_an_unknown_cluster_nobody_owns_anything() -> None:
    result = converted("volcano", [volcano("a", 1), volcano("b", 3)])
    assert "Queue b: spec.weight" in notes(result)
    assert specs(result, "ClusterQueue")["b"]["fairSharing"] == {"weight": "3"}


def test_queues_of_yunikorn() -> None:
    result = converted("yunikorn")
    ki = ("31250000Ki", "62500000Ki")  # 32G and 64G
    assert quotas(result) == {
        "Cohort /root": {},
        # 8 cores less the 4 of night_runs; 24 at most are 16 beyond the 8. 32 GB, 96 GB at most.
        "Cohort root/etl": {"cpu": ("4", "16", "-"), "memory": (*ki, "-")},
        "Cohort root/open": {"cpu": NOTHING, "memory": NOTHING},
        # It is guaranteed no memory, but the queue above is.
        "ClusterQueue etl/etl.night-runs": {"cpu": ("4", "-", "-"), "memory": ("0", ki[1], "-")},
        "ClusterQueue etl/etl.adhoc": {"cpu": NOTHING, "memory": NOTHING},
    }
    preemption = {name: spec["preemption"] for name, spec in specs(result, "ClusterQueue").items()}
    assert preemption == {
        "etl.night-runs": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Never"},
        "etl.adhoc": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"},
    }
    assert specs(result, "QueuePolicy") == {
        "etl": {
            "target": {"kind": "Cohort", "name": "etl"},
            "quotaShrink": {"after": "10m", "order": "BorrowedFirst"},
            "limits": [{"users": ["*"], "running": 5, "resources": {"cpu": "4"}}],
        },
        "etl.night-runs": {
            "target": {"kind": "ClusterQueue", "name": "etl.night-runs"},
            "submit": {"users": ["ada", "bob", "carl", "dora"], "groups": ["admins", "etl-team"]},
        },
        "etl.adhoc": {
            "target": {"kind": "ClusterQueue", "name": "etl.adhoc"},
            "submit": {"users": ["ada", "bob"], "groups": ["admins"]},
        },
    }
    assert [note.about for note in result.notes if note.field.endswith("placementrules")] == ["partition default"]
    said = [(note.about, note.field.rpartition("]")[2].removeprefix(".")) for note in result.notes]
    assert said == [
        ("partition default", "placementrules"),
        ("queue root.Etl", "adminacl"),
        ("queue root.open", "childtemplate"),
        ("queue root.Etl", "properties.priority.policy"),
        ("queue root.Etl.night_runs", "maxapplications"),
        ("queue root.Etl.night_runs", "properties.application.sort.policy"),
        ("queue root.open", ""),
        ("queue root.Etl.night_runs", "memory"),
    ]


def test_quotas_of_koordinator() -> None:
    result = converted("koordinator")
    whole = ("1G", "0", "0")
    assert quotas(result) == {
        "Cohort /koordinator-root-quota": {},
        # The root of a tree of its own: 64 - 32 and 16 - 8, on its own nodes.
        "Cohort /gpu-root": {"cpu": ("32", "-", "-"), "memory": ("100Pi", "-", "-"), G: ("8", "-", "-")},
        "Cohort koordinator-root-quota/web": {"cpu": ("40", "-", "-"), "memory": WHOLE, G: whole},
        "ClusterQueue gpu-root/gpu-team": {"cpu": ("32", "16", "0"), "memory": WHOLE, G: ("8", "8", "0")},
        "ClusterQueue web/shop": {"cpu": ("20", "20", "-"), "memory": ("10Gi", "-", "-"), G: whole},
    }
    assert specs(result, "ResourceFlavor")["gpu-root"] == {"nodeLabels": {"pool": "gpu"}}
    doors = [(o["metadata"]["namespace"], o["metadata"]["name"]) for o in result.objects if o["kind"] == "LocalQueue"]
    assert doors == [("lab", "gpu-team"), ("gpu-team", "gpu-team"), ("shop", "shop"), ("lab", "shop")]
    assert specs(result, "ClusterQueue")["gpu-team"]["fairSharing"] == {"weight": "10"}
    assert specs(result, "QueuePolicy") == {
        name: {"target": {"kind": "Cohort", "name": name}, **FIRM} for name in ("koordinator-root-quota", "gpu-root")
    }
    assert notes(result) == [
        "ElasticQuotaProfile gpu-pool: spec.resourceRatio",
        "ElasticQuota gpu-team: metadata.annotations[quota.scheduling.koordinator.sh/shared-weight]",
        "ElasticQuota gpu-team: metadata.annotations[quota.scheduling.koordinator.sh/admission]",
        "quota company: max",
        "quota web: spec.root.children[0].attributes.alibabacloud.com/lendlimit",
        "fairSharing: weight",
    ]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_printed_is_accepted_and_can_be_played(system: str, tmp_path: Path) -> None:
    told = RUNNER.invoke(app, ["convert", "--from", system, str(FOLDER / f"{system}.yaml"), "--namespace", "lab"])
    assert told.exit_code == 0, told.output
    ours = tmp_path / "ours.yaml"
    ours.write_text(told.stdout, encoding="utf-8")
    simulation, _ = prepared([ours])
    simulation.run(None)
    kinds = [one["kind"] for one in yaml.safe_load_all(told.stdout)]
    assert {"ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue"} <= set(kinds)
    comments = [line.removeprefix("# ") for line in told.stdout.splitlines() if line.startswith("# ")]
    assert comments == told.stderr.splitlines()
    assert len(comments) > 5


def test_a_job_of_volcano_runs_in_the_queue_that_came_of_its_own(tmp_path: Path) -> None:
    ours, job = tmp_path / "ours.yaml", tmp_path / "job.yaml"
    arguments = ["convert", "--from", "volcano", str(FOLDER / "volcano.yaml"), "--namespace", "lab"]
    ours.write_text(RUNNER.invoke(app, arguments).stdout, encoding="utf-8")
    container = {"name": "c", "image": "example.com/run:1", "resources": {"limits": {G: 6}, "requests": {"cpu": "8"}}}
    labels = {"kueue.x-k8s.io/queue-name": "train"}
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "lab", "labels": labels},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
    job.write_text(yaml.safe_dump(manifest), encoding="utf-8")
    simulation, _ = prepared([ours, job])
    simulation.run(None)
    ((_, workload),) = list(simulation.workloads())
    assert workload is not None
    assert workload.admission is not None


BAD = [
    ("kai", "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\n", "spec.resources"),
    (
        "kai",
        "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: {resources: {gpu: {quota: much}}}\n",
        "spec.resources.gpu.quota 'much' is not a number; write one",
    ),
    ("kai", "kind: Pod\napiVersion: v1\n", "no queues of kai"),
    ("kai", "a: [", "is not YAML"),
    ("volcano", "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: A b}\n", "metadata.name"),
    (
        "volcano",
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\nspec: {deserved: {cpu: x}}\n",
        "spec.deserved.cpu 'x' is not a quantity",
    ),
    ("yunikorn", "partitions: [{queues: [{name: other}]}]", "is beside the root"),
    ("yunikorn", "partitions: 3", "is not a list"),
    ("yunikorn", 'kind: ConfigMap\ndata: {queues.yaml: "a: ["}', "data.queues.yaml"),
    (
        "yunikorn",
        'kind: ConfigMap\ndata: {queues.yaml: "partitions: [{queues: [{name: root, queues: [{}]}]}]"}',
        "data.queues.yaml: partitions[0].queues[0].queues[0].name is missing; name the queue",
    ),
    (
        "koordinator",
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: ElasticQuota\nmetadata: {name: a}\nspec: {min: {cpu: 1}}\n",
        "names cpu, which max does not",
    ),
]


@pytest.mark.parametrize(("system", "text", "said"), BAD)
def test_a_bad_file_is_told_where_it_is_bad(system: str, text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "queues.yaml"
    file.write_text(text, encoding="utf-8")
    told = RUNNER.invoke(app, ["convert", "--from", system, str(file)])
    assert told.exit_code != 0
    assert said in str(told.exception)
    assert not told.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--cluster", "cpu"], "--cluster cpu: has not the form"),
        (["--cluster", "cpu=-1"], "is negative"),
        (["--cluster", "cpu=1,cpu=2"], "given twice"),
        (["--namespace", "A"], "--namespace A"),
        (["--flavor", "A"], "--flavor A"),
    ],
)
def test_an_option_that_makes_no_sense_is_told(options: list[str], said: str) -> None:
    told = RUNNER.invoke(app, ["convert", "--from", "kai", str(FOLDER / "kai.yaml"), *options])
    assert said in str(told.exception)


def test_values_of_the_chart_of_yunikorn_hold_its_queues(tmp_path: Path) -> None:
    bare = "partitions: [{queues: [{name: root, submitacl: '*', queues: [{name: 7, resources: {max: {vcore: 2}}}]}]}]"
    for name, content in (
        ("bare", bare),
        ("values", yaml.safe_dump({"yunikornDefaults": {"queues.yaml": bare, "log.level": "INFO"}})),
        ("map", yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "data": {"default.queues.yaml": bare}})),
    ):
        file = tmp_path / f"{name}.yaml"
        file.write_text(content, encoding="utf-8")
        told = RUNNER.invoke(app, ["convert", "--from", "yunikorn", str(file)])
        made = [one["metadata"]["name"] for one in yaml.safe_load_all(told.stdout) if one["kind"] == "ClusterQueue"]
        assert made == ["7"], told.output


def test_a_scenario_with_queues_that_cannot_be_read_is_a_bad_file() -> None:
    text = (FOLDER.parents[1] / "scenarios" / "131-firm-work-of-kai-does-not-borrow.yaml").read_text(encoding="utf-8")
    with pytest.raises(BadFile) as bad:
        read_case(text.replace("quota: 2,", "quota: some,"))
    assert "Queue a: spec.resources.gpu.quota 'some' is not a number: write one" in bad.value.problems[0].message


def test_two_queues_of_one_name_and_a_circle_are_no_tree() -> None:
    twice = convert("kai", [kai("a", quota=1, limit=1), kai("a", quota=1, limit=1)], Surroundings())
    assert [fault.problem for fault in twice.faults] == ["is there twice"]
    circle = convert("kai", [kai("a", "b", quota=1, limit=1), kai("b", "a", quota=1, limit=1)], Surroundings())
    assert circle.faults[0].problem == "is its own ancestor: a below b below a"
    assert not circle.objects


def test_a_queue_whose_parent_is_nowhere_is_put_below_the_root() -> None:
    result = converted("kai", [kai("a", "gone", quota=1, limit=1)])
    assert "ClusterQueue kai/a" in quotas(result)
    assert "Queue a: parent" in notes(result)


def test_a_field_that_nobody_knows_is_told() -> None:
    queue = kai("a", quota=1, limit=1)
    queue["spec"]["future"] = {"x": 1}
    queue["metadata"]["annotations"] = {"example.com/note": "hi"}
    assert notes(converted("kai", [queue])) == [
        "Queue a: metadata.annotations[example.com/note]",
        "Queue a: spec.future",
    ]


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "1", "-1", "10Gi", "a", "root", "A b", "10m", "{}", '{"cpu":1}', "*", "true", "x y"])
)
words = st.sampled_from(
    ["spec", "metadata", "name", "resources", "gpu", "cpu", "quota", "limit", "overQuotaWeight", "parentQueue",
     "priority", "deserved", "guarantee", "resource", "capability", "parent", "weight", "affinity", "queues",
     "nodeGroupAffinity", "partitions", "limits", "users", "groups", "maxresources", "submitacl", "properties", "min",
     "max", "root", "children", "namespaces", "labels", "annotations"]
)  # fmt: skip
garbage = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4), max_leaves=20
)
HEADS = [
    {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue"},
    {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"},
    {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota"},
    {"apiVersion": "scheduling.sigs.k8s.io/v1beta1", "kind": "ElasticQuotaTree"},
    {"apiVersion": "quota.koordinator.sh/v1alpha1", "kind": "ElasticQuotaProfile"},
]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(HEADS), st.sampled_from(["a", "b"]), garbage), max_size=3), garbage)
def test_no_garbage_breaks_it_and_the_same_gives_the_same(
    parts: list[tuple[dict[str, str], str, Any]], bare: Any
) -> None:
    found = [{**head, "metadata": {"name": name}, "spec": spec} for head, name, spec in parts]
    for system in SYSTEMS:
        given_ = [*found, {"partitions": bare}, bare]
        assert convert(system, given_, Surroundings()) == convert(system, given_, Surroundings())


quota = st.tuples(st.integers(-1, 9), st.integers(-1, 9), st.integers(0, 2))


@settings(max_examples=30)
@given(st.lists(quota, min_size=1, max_size=4), st.integers(0, 40))
def test_what_queues_own_of_a_cluster_is_never_more_than_they_did(sizes: list[tuple[int, int, int]], gpus: int) -> None:
    """Of queues side by side: each may use its limit and no more, and owns its quota and no more."""
    queues = [
        kai(f"q{index}", quota=owned, limit=most, overQuotaWeight=weight)
        for index, (owned, most, weight) in enumerate(sizes)
    ]
    found = quotas(converted("kai", queues, gpu=str(gpus)))
    for index, (owned, most, weight) in enumerate(sizes):
        nominal, borrows, _ = found[f"ClusterQueue kai/q{index}"][G]
        allowed = gpus if owned == -1 else owned
        assert int(nominal) == (min(allowed, most) if most >= 0 else allowed)
        if most >= 0:
            assert int(nominal) + int(borrows) <= max(most, 0)
        assert (borrows == "0") >= (weight == 0 or owned == -1)
    root = found["Cohort /kai"].get(G, ("0",))[0]
    finite = sum(int(found[f"ClusterQueue kai/q{i}"][G][0]) for i, one in enumerate(sizes) if one[0] != -1)
    assert int(root) == max(gpus - finite, 0)


def may_use(result: Converted) -> dict[str, int]:
    """GPUs that each queue could get in all, as long as nobody else wants any: reckoned by the core's own tree."""
    tree, gpus = Tree(), ("default", G)
    leaves = []
    for one in result.objects:
        if one["kind"] == "Cohort":
            cohort = read_cohort(one)
            tree.put_cohort(cohort.name, cohort.parent, cohort.quotas())
        elif one["kind"] == "ClusterQueue":
            queue = read_cluster_queue(one)
            tree.put_queue(queue.name, queue.cohort, queue.quotas())
            leaves.append(queue.name)
    found = {}
    for name in leaves:
        node = tree.queue(name)
        assert node is not None
        found[name] = max(tree.available(node, gpus), 0)
    return found


size = st.tuples(st.integers(0, 6), st.none() | st.integers(0, 12), st.integers(0, 2))


@settings(max_examples=60)
@given(st.lists(st.tuples(size, st.lists(size, min_size=1, max_size=3)), min_size=1, max_size=3), st.integers(0, 12))
def test_who_is_alone_gets_the_same_here_as_in_kai(
    departments: list[tuple[tuple[int, int | None, int], list[tuple[int, int | None, int]]]], more: int
) -> None:
    """Where quotas are not promised twice: each parent owns what its children do and more, the cluster likewise."""

    def limit(owned: int, most: int | None) -> int:
        return -1 if most is None else max(owned, most)

    queues, total = list[dict[str, Any]](), more
    for at, ((beyond, most, weight), children) in enumerate(departments):
        owned = beyond + sum(one[0] for one in children)
        total += owned
        queues.append(kai(f"d{at}", quota=owned, limit=limit(owned, most), overQuotaWeight=weight))
        for index, (own, top, share) in enumerate(children):
            queues.append(kai(f"d{at}q{index}", f"d{at}", quota=own, limit=limit(own, top), overQuotaWeight=share))
    result = converted("kai", queues, gpu=str(total))
    for name, found in may_use(result).items():
        assert found == kai_shares(result.tree.queues, G, total, {name: 10**6})[name]


def test_the_order_of_files_changes_no_quota() -> None:
    queues = [volcano("a", 1), volcano("b", 3), volcano("b1", 1, "b")]
    seen = [quotas(converted("volcano", list(order), gpu="16")) for order in itertools.permutations(queues)]
    assert all(one == seen[0] for one in seen)


def test_half_a_character_is_told_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "queues.json"
    half = kai("a", quota=1, limit=1)
    half["spec"]["displayName"], half["metadata"]["labels"] = "\ud800", {"name": "\ud800"}
    file.write_text(json.dumps(half), encoding="utf-8")
    told = RUNNER.invoke(app, ["convert", "--from", "kai", str(file)])
    assert told.exit_code == 0, told.exception
    assert 'spec.displayName is "\\ud800"' in told.stderr
    users = {"name": "a", "limits": [{"users": ["\ud800"], "maxapplications": 1}]}
    file.write_text(json.dumps({"partitions": [{"queues": [{"name": "root", "queues": [users]}]}]}), encoding="utf-8")
    told = RUNNER.invoke(app, ["convert", "--from", "yunikorn", str(file)])
    assert told.exit_code == 0, told.exception


@settings(max_examples=15)
@given(
    st.sampled_from(list(SYSTEMS)), st.text(max_size=40) | st.binary(max_size=40).map(lambda raw: raw.decode("latin-1"))
)
def test_no_file_makes_the_command_break(system: str, text: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "queues.yaml"
        file.write_text(text, encoding="utf-8")
        told = RUNNER.invoke(app, ["convert", "--from", system, str(file)])
    assert isinstance(told.exception, Complaint)
