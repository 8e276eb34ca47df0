"""Queues of other systems as ours: worked out by hand, accepted by our own validation, and played."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from admission.migration import Converted, Surroundings, convert
from admission.model.amounts import amount

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
