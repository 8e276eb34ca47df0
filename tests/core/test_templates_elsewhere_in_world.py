"""Jobs whose pod templates lie in other objects, through the whole product and through what plays files."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from admission.world.scenario.case import read_case
from admission.world.scenario.report import FileResult, text
from admission.world.scenario.runner import run_case
from controller.cli.__main__ import main
from controller.cli.playing import prepared
from controller.cli.results import result
from tests.core.manifests.pods import Object
from tests.core.test_templates_elsewhere import EXAMPLE, job_kind, pods, runtime, sweep

KUEUE = "kueue.x-k8s.io/v1beta2"


def at(moment: int, field: str, **expected: Any) -> Object:
    return {"at": moment, "object": "Sweep/lab/train", "field": field, **expected}


def stands(moment: int, state: str) -> Object:
    return {"at": moment, "workloadOf": "Sweep/lab/train", "state": state}


def reserved(moment: int, cpu: str) -> Object:
    return {"at": moment, "clusterQueue": "all", "reserved": {"plain": {"cpu": cpu}}}


def flavor(name: str, **spec: Any) -> Object:
    return {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}


def bare(one: Object) -> Object:
    """As its author writes it."""
    kept = {key: one["metadata"][key] for key in ("name", "namespace", "labels") if key in one["metadata"]}
    return {**one, "metadata": kept}


def plays(objects: list[Object], events: list[Object], expect: list[Object], flavors: list[Object]) -> None:
    amounts = [{"name": "cpu", "nominalQuota": "100"}]
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": one["metadata"]["name"], "resources": amounts} for one in flavors],
    }
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    local = {"namespace": "lab", "name": "main"}
    case = {
        "id": "C905",
        "source": "https://example.com/kinds",
        "area": "job-integration",
        "confidence": "high",
        "needs": ["jobs:Sweep"],
        "gist": "A job whose template lies elsewhere",
        "why": "Its JobKind says where.",
        "objects": [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
            *flavors,
            {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "all"}, "spec": spec},
            {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": local, "spec": {"clusterQueue": "all"}},
            bare(job_kind()),
            *map(bare, objects),
        ],
        "events": events,
        "expect": expect,
    }
    found = run_case(read_case(yaml.safe_dump(case)))
    assert found.outcome == "passed", "\n".join(text([FileResult("here", found)]))


def stop_policy(moment: int, policy: str) -> Object:
    return {"t": moment, "op": "patch", "ref": "ClusterQueue/all", "patch": {"spec": {"stopPolicy": policy}}}


def status(moment: int, **fields: Any) -> Object:
    ref = "Sweep/lab/train"
    return {"t": moment, "op": "patch", "ref": ref, "subresource": "status", "patch": {"status": fields}}


CREATE = {"t": 0, "op": "create", "ref": "Sweep/lab/train"}


def test_a_job_waits_for_its_template_runs_through_a_change_of_it_and_is_counted_anew_when_it_comes_back() -> None:
    job = bare(sweep())
    del job["spec"]["suspend"]
    plays(
        [runtime(), job],
        [
            CREATE,
            {"t": 10, "op": "create", "ref": "Runtime/lab/a100"},
            status(20, active=3),
            {"t": 25, "op": "patch", "ref": "Runtime/lab/a100", "patch": {"spec": {"template": pods("4")}}},
            stop_policy(30, "HoldAndDrain"),
            status(40, active=0),
            stop_policy(50, "None"),
            status(60, active=3),
            {"t": 65, "op": "delete", "ref": "Runtime/lab/a100"},
            status(70, active=0, conditions=[{"type": "Complete", "status": "True", "message": "done"}]),
            {"t": 80, "op": "tick"},
        ],
        [
            at(0, "spec.suspend", equals=True),
            stands(10, "admitted"),
            at(10, "spec.suspend", equals=False),
            stands(25, "admitted"),
            at(25, "spec.suspend", equals=False),
            reserved(25, "6"),
            at(30, "spec.suspend", equals=True),
            stands(30, "quotaReserved"),  # its pods are still there
            stands(40, "pending"),
            stands(50, "admitted"),
            reserved(60, "12"),
            stands(65, "admitted"),
            at(65, "spec.suspend", equals=False),
            stands(80, "finished"),
        ],
        [flavor("plain")],
    )


def test_who_waits_in_a_queue_leaves_it_while_the_template_is_missing() -> None:
    plays(
        [runtime(), sweep()],
        [
            stop_policy(0, "Hold"),
            CREATE,
            {"t": 5, "op": "tick"},
            {"t": 10, "op": "delete", "ref": "Runtime/lab/a100"},
            stop_policy(20, "None"),
            {"t": 25, "op": "tick"},
            {"t": 30, "op": "create", "ref": "Runtime/lab/a100"},
            {"t": 40, "op": "tick"},
        ],
        [
            stands(5, "pending"),
            stands(25, "pending"),
            at(25, "spec.suspend", equals=True),
            stands(30, "admitted"),
            at(30, "spec.suspend", equals=False),
            reserved(40, "6"),
        ],
        [flavor("plain")],
    )


def test_such_a_job_passes_by_flavors_whose_nodes_cannot_be_named_in_its_pods() -> None:
    spot = flavor("spot", nodeLabels={"pool": "spot"})
    later = {"t": 10, "op": "tick"}
    plays([runtime(), sweep()], [CREATE, later], [stands(0, "admitted"), reserved(10, "6")], [spot, flavor("plain")])
    plays([runtime(), sweep()], [CREATE, later], [stands(10, "pending"), at(10, "spec.suspend", equals=True)], [spot])


# --- without a cluster


def test_simulate_and_explain_find_the_template_among_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    meta: Object = {"name": "t", "namespace": "lab", "labels": {"kueue.x-k8s.io/queue-name": "main"}}
    train = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": meta,
        "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 2}},
    }  # fmt: skip
    node = {"name": "node", "template": {"spec": {"template": pods("3")}}}
    lender = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": {"name": "torch"},
        "spec": {"template": {"spec": {"replicatedJobs": [node]}}},
    }  # fmt: skip
    flavors = [{"name": "plain", "resources": [{"name": "cpu", "nominalQuota": "6"}]}]
    spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}
    queues = [
        flavor("plain"),
        {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "all"}, "spec": spec},
        {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"namespace": "lab", "name": "main"},
         "spec": {"clusterQueue": "all"}},
    ]  # fmt: skip
    other = {**train, "metadata": {**meta, "name": "u"}, "spec": {"runtimeRef": {"name": "none"}}}
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all([train, other, lender, *queues]), encoding="utf-8")
    simulation, notes = prepared([file, EXAMPLE])
    simulation.run()
    rows = {row["owner"]: row for row in result(simulation)["workloads"]}
    assert rows["TrainJob.v1alpha1.trainer.kubeflow.org/lab/t"]["counts"] == {"node": 2}
    assert rows["TrainJob.v1alpha1.trainer.kubeflow.org/lab/t"]["admitted"] == 0
    assert not any("ClusterTrainingRuntime" in note for note in notes)
    with pytest.raises(SystemExit) as end:
        main(["explain", "TrainJob/lab/u", str(file), str(EXAMPLE)])
    assert not end.value.code
    assert "there is no ClusterTrainingRuntime" in capsys.readouterr().out
