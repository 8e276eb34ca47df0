"""Pods that contradict themselves about accelerators are refused in every kind of job, with the field, the value and a
way out; what nobody knows passes, with a hint where a name looks like a slip."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.answers import Answer
from admission.jobs.registry import JOB_KINDS
from admission.model.accelerators import ANNOTATIONS, ANY
from admission.model.configuration import DEFAULTS
from admission.resources.catalogue import CATALOGUE
from admission.validation.accelerator_names import near_miss
from admission.validation.accelerators import faults
from admission.world.world import World
from tests.core.test_accelerators import TABLE
from tests.core.test_job_kinds_in_state import SWEEP, job_kind, sweep
from tests.core.test_readers_garbage import garbage
from tests.core.test_stamping import Cluster
from tests.core.test_stamping_kinds import any_job, asked, cluster_of

K = "koordinator.sh/"
NOTES = "metadata.annotations"
LIMITS = "spec.containers[0].resources.limits"


def pod(*containers: dict[str, str], **notes: str) -> dict[str, Any]:
    annotations = {name.replace("_", "-"): value for name, value in notes.items()}
    return {
        "metadata": {"annotations": annotations},
        "spec": {"containers": [{"name": "c", "resources": {"limits": each}} for each in containers]},
    }


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        pod({"nvidia.com/gpu": "1"}, gpu_fraction="0.5"),
        f"{LIMITS}[nvidia.com/gpu]",
        '"1": can\'t be asked for together with gpu-fraction; remove one of them',
    ),
    (pod({"nvidia.com/gpu": "1"}, gpu_memory="4096"), f"{LIMITS}[nvidia.com/gpu]", "together with gpu-memory"),
    (pod(gpu_fraction="0.5", gpu_memory="4096"), f"{NOTES}[gpu-memory]", "together with gpu-fraction"),
    (pod(gpu_fraction="1"), f"{NOTES}[gpu-fraction]", '"1": must be a number above 0 and below 1, like 0.5; ask for'),
    (pod(gpu_fraction="0"), f"{NOTES}[gpu-fraction]", '"0": must be a number above 0 and below 1'),
    (pod(gpu_fraction="-0.5"), f"{NOTES}[gpu-fraction]", '"-0.5": must be'),
    (pod(gpu_fraction="half"), f"{NOTES}[gpu-fraction]", '"half": must be'),
    (pod(gpu_fraction="500m"), f"{NOTES}[gpu-fraction]", '"500m": must be'),
    (
        pod(gpu_memory="4Gi"),
        f"{NOTES}[gpu-memory]",
        '"4Gi": must be a whole number above 0 of MiB of memory, like 4096',
    ),
    (pod(gpu_memory="0"), f"{NOTES}[gpu-memory]", '"0": must be'),
    (
        pod(gpu_fraction="0.5", gpu_fraction_num_devices="1.5"),
        f"{NOTES}[gpu-fraction-num-devices]",
        '"1.5": must be a whole number above 0 of devices, like 2',
    ),
    (
        pod(gpu_fraction_num_devices="2"),
        f"{NOTES}[gpu-fraction-num-devices]",
        "add gpu-fraction or gpu-memory, or remove",
    ),
    (pod({"nvidia.com/gpu": "0.5"}), f"{LIMITS}[nvidia.com/gpu]", '"0.5": must be a whole number; a part of a GPU is'),
    (pod({"amd.com/gpu": "500m"}), f"{LIMITS}[amd.com/gpu]", '"500m": must be a whole number'),
    (pod({"volcano.sh/vgpu-number": "0.5"}), f"{LIMITS}[volcano.sh/vgpu-number]", "asked for by volcano.sh/vgpu-cores"),
    (pod({"nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "1"}), f"{LIMITS}[nvidia.com/mig-1g.5gb]", "together with"),
    (pod({"nvidia.com/gpu": "1", "nvidia.com/gpu.shared": "1"}), f"{LIMITS}[nvidia.com/gpu.shared]", "together with"),
    (
        pod({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "1", "nvidia.com/gpumem-percentage": "1"}),
        f"{LIMITS}[nvidia.com/gpumem-percentage]",
        "together with nvidia.com/gpumem;",
    ),
    (
        pod({"nvidia.com/gpu": "2", "nvidia.com/gpucores": "200"}),
        f"{LIMITS}[nvidia.com/gpucores]",
        '"200": is a percentage of each device and must not be above 100; ask for more devices by nvidia.com/gpu',
    ),
    (
        pod({"aws.amazon.com/neuroncore": "2", "aws.amazon.com/neurondevice": "1"}),
        f"{LIMITS}[aws.amazon.com/neurondevice]",
        "together with aws.amazon.com/neuroncore",
    ),
    (pod({"nvidia.com/gpu": "1", f"{K}gpu": "100"}), f"{LIMITS}[{K}gpu]", "together with nvidia.com/gpu"),
    (
        pod({f"{K}gpu": "150"}),
        f"{LIMITS}[{K}gpu]",
        '"150": is a percentage of one device and above 100 must be a multiple',
    ),
    (pod({f"{K}gpu": "50"}, {f"{K}gpu": "100"}), f"{LIMITS}[{K}gpu]", "2 containers together 150, and above 100"),
    (
        pod({f"{K}gpu-memory": "8Gi", f"{K}gpu-memory-ratio": "50"}),
        f"{LIMITS}[{K}gpu-memory-ratio]",
        f"together with {K}gpu-memory;",
    ),
    (pod({f"{K}gpu-core": "50"}), f"{LIMITS}[{K}gpu-core]", f"with {K}gpu-memory or {K}gpu-memory-ratio; add one"),
    (pod({f"{K}gpu.shared": "2"}), f"{LIMITS}[{K}gpu.shared]", f"with {K}gpu-memory or {K}gpu-memory-ratio; add one"),
    (
        pod({f"{K}gpu": "100", f"{K}gpu-memory": "1Gi"}),
        f"{LIMITS}[{K}gpu-memory]",
        f"together with {K}gpu;",
    ),
    (
        pod({f"{K}gpu.shared": "3", f"{K}gpu-memory-ratio": "100"}),
        f"{LIMITS}[{K}gpu-memory-ratio]",
        f'"100": must be a multiple of {K}gpu.shared, 3, and at most 100 for each',
    ),
    (
        pod({f"{K}gpu.shared": "2", f"{K}gpu-memory-ratio": "300"}),
        f"{LIMITS}[{K}gpu-memory-ratio]",
        '"300": must be a multiple',
    ),
]

ACCEPTED: list[dict[str, Any]] = [
    pod({"nvidia.com/gpu": "8"}),
    pod({"nvidia.com/gpu": "1"}, {"nvidia.com/mig-1g.5gb": "1"}),  # of two containers each sees its own
    pod({"nvidia.com/gpu": "0"}, gpu_fraction="0.5"),
    pod(gpu_fraction="0.25", gpu_fraction_num_devices="4"),
    pod(gpu_memory="4096", gpu_fraction_num_devices="2"),
    pod({"nvidia.com/gpu": "2", "nvidia.com/gpumem": "3000", "nvidia.com/gpucores": "100"}),
    pod({f"{K}gpu": "200"}),
    pod({f"{K}gpu": "50"}, {f"{K}gpu": "150"}),  # together two cards
    pod({f"{K}gpu-memory": "8Gi"}),
    pod({f"{K}gpu-memory-ratio": "50"}),
    pod({f"{K}gpu-core": "50", f"{K}gpu-memory": "8Gi"}),
    pod({f"{K}gpu.shared": "2", f"{K}gpu-core": "100", f"{K}gpu-memory-ratio": "150"}),
    pod({f"{K}gpu.shared": "2", f"{K}gpu-memory": "16Gi"}),
    pod({"acme.example/wafer": "1", "acme.example/half-wafer": "2", "rdma/hca": "1"}),
]


@pytest.mark.parametrize(("template", "path", "words"), REFUSED, ids=[f"{path}-{words}" for _, path, words in REFUSED])
def test_a_contradiction_is_refused_once_with_its_field_and_a_way_out(
    template: dict[str, Any], path: str, words: str
) -> None:
    (fault,) = faults(template, CATALOGUE)
    assert fault.path == path
    assert words in fault.body


@pytest.mark.parametrize("template", ACCEPTED)
def test_what_can_be_meant_passes(template: dict[str, Any]) -> None:
    assert faults(template, CATALOGUE) == []


def test_what_the_table_of_amounts_reckons_with_is_hardly_ever_a_contradiction() -> None:
    odd = [
        name
        for name, asked, _, _ in TABLE
        if faults(
            pod(
                {name: units for name, units in asked.items() if name not in ANNOTATIONS},
                **{name: note for name, note in asked.items() if name in ANNOTATIONS},
            ),
            CATALOGUE,
        )
    ]
    assert odd == ["KAI: a number of devices alone is no wish"]


@given(garbage)
def test_garbage_is_no_contradiction_that_anybody_trips_over(value: Any) -> None:
    for template in (
        {"metadata": value, "spec": value},
        {"metadata": {"annotations": value}, "spec": {"containers": value}},
        {"metadata": {"annotations": dict.fromkeys(ANNOTATIONS, value)}},
        {
            "spec": {
                "initContainers": [{"resources": {"limits": {"nvidia.com/gpu": value, "koordinator.sh/gpu": value}}}]
            }
        },
    ):
        faults(template, CATALOGUE)


# --- names


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("rebellions.ai/atom", "rebellions.ai/ATOM"),
        ("Rebellions.ai/Atom", "rebellions.ai/ATOM"),
        ("huawei.com/ascend910", "huawei.com/Ascend910"),
        ("nvidia.com/gpus", "nvidia.com/gpu"),
        ("nvidia.com/gpumen", "nvidia.com/gpumem"),
        ("nvidia.com/gpu-shared", "nvidia.com/gpu.shared"),
        ("koordinator.sh/gpu_memory", "koordinator.sh/gpu-memory"),
        ("habana.ai/guadi", ""),
        ("nvidia.com/gpu", ""),
        ("nvidia.com/mig-9g.999gb", ""),
        ("cambricon.com/mlu590", ""),  # another model
        ("nvidia.com/hostdev", ""),
        ("acme.example/gpu", ""),
        ("gpu", ""),
    ],
)
def test_a_slip_is_told_from_another_name(written: str, meant: str) -> None:
    assert near_miss(written, CATALOGUE) == meant


@given(st.sampled_from(sorted(one.name for one in CATALOGUE if "/" in one.name and not one.name.endswith(ANY))))
def test_no_name_of_the_catalogue_is_a_slip_and_each_is_found_without_its_capitals(name: str) -> None:
    assert near_miss(name, CATALOGUE) == ""
    assert name == name.lower() or near_miss(name.lower(), CATALOGUE) == name


# --- in jobs


def templated(kind: str, template: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """A job of the kind whose pods, or some of them, are made of the template; and where that lies."""
    worker = {"replicas": 1, "template": template}
    replicas = {
        "TFJob": "tf",
        "PyTorchJob": "pytorch",
        "XGBoostJob": "xgb",
        "PaddleJob": "paddle",
        "JAXJob": "jax",
        "MPIJob": "mpi",
    }
    made = any_job(kind)
    if kind == "Job":
        made["spec"] = {"template": template}
        return made, "spec.template"
    if kind in replicas:
        made["spec"] = {f"{replicas[kind]}ReplicaSpecs": {"Worker": worker}}
        return made, f"spec.{replicas[kind]}ReplicaSpecs.Worker.template"
    if kind == "JobSet":
        made["spec"] = {"replicatedJobs": [{"name": "w", "replicas": 1, "template": {"spec": {"template": template}}}]}
        return made, "spec.replicatedJobs[0].template.spec.template"
    cluster = {"headGroupSpec": {"rayStartParams": {}, "template": template}}
    if kind == "RayJob":
        made["spec"] = {"entrypoint": "x", "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster}
        return made, "spec.rayClusterSpec.headGroupSpec.template"
    assert kind == "RayCluster"
    made["spec"] = cluster
    return made, "spec.headGroupSpec.template"


HOLDING_TEMPLATES = [kind for kind in JOB_KINDS if kind not in ("SparkApplication", "Workflow")]
in_every_kind = pytest.mark.parametrize("kind", HOLDING_TEMPLATES)
WRONG, RIGHT, ODD = (
    pod({"nvidia.com/gpu": "1"}, gpu_fraction="0.5"),
    pod({"nvidia.com/gpu": "1"}),
    pod({"nvidia.com/gpus": "1"}),
)


def judged(kind: str, new: Any, old: Any = None, cluster: Cluster | None = None) -> Answer:
    said = asked(kind, cluster or Cluster(), new, old, "validate")
    before = None if old is None else msgspec.json.encode(old)
    assert said == asked(kind, cluster or Cluster(), msgspec.json.encode(new), before, "validate")
    return said


@in_every_kind
def test_a_contradiction_in_a_template_is_refused_whatever_the_kind(kind: str) -> None:
    made, at = templated(kind, WRONG)
    said = judged(kind, made)
    assert not said.allowed
    assert (
        f'{at}.{LIMITS}[nvidia.com/gpu]: Invalid value: "1": can\'t be asked for together with gpu-fraction'
        in said.message
    )
    assert judged(kind, templated(kind, RIGHT)[0]) == Answer()


@in_every_kind
def test_a_slip_is_told_to_who_creates_the_job_and_passes(kind: str) -> None:
    made, _ = templated(kind, ODD)
    said = judged(kind, made)
    assert said.allowed
    assert said.warnings == (
        "nvidia.com/gpus is not known as an accelerator and counts as none: did you mean nvidia.com/gpu?",
    )
    assert judged(kind, templated(kind, RIGHT)[0], made).warnings == ()


@in_every_kind
def test_what_was_wrong_before_passes_and_what_becomes_wrong_does_not(kind: str) -> None:
    wrong, _ = templated(kind, WRONG)
    right, _ = templated(kind, RIGHT)
    for made in (wrong, right):
        made["spec"]["suspend"] = True
    labelled = {
        **wrong,
        "metadata": {**wrong["metadata"], "annotations": {"note": "x"}},
        "spec": {**wrong["spec"], "other": 1},
    }
    assert "gpu-fraction" not in judged(kind, labelled, wrong).message
    assert "gpu-fraction" in judged(kind, wrong, right).message
    dying = {**wrong, "metadata": {**wrong["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert judged(kind, dying, right).allowed


def test_pods_of_kinds_without_templates_are_judged_by_what_they_are_made_of() -> None:
    made = any_job("Workflow")
    container = {"image": "none", "resources": {"limits": {"nvidia.com/gpu": "1", "nvidia.com/gpu.shared": "1"}}}
    made["spec"] = {"entrypoint": "main", "templates": [{"name": "main", "container": container}]}
    said = judged("Workflow", made)
    assert "pods of main" in said.message
    assert "together with nvidia.com/gpu" in said.message


@pytest.mark.parametrize(
    ("rule", "at"),
    [
        ({"template": "spec.template"}, f"spec.template.{LIMITS}[{{}}]"),
        ({"podSpec": "spec.pod"}, f"spec.pod.{LIMITS.removeprefix('spec.')}[{{}}]"),
        ({"requests": {"nvidia.com/gpu": "spec.gpus", "nvidia.com/gpu.shared": "spec.gpus"}}, "pods of main."),
    ],
)
def test_described_kinds_are_judged_where_their_pods_are_described(rule: dict[str, Any], at: str) -> None:
    cluster = cluster_of(job_kind(podSets=[{"name": "main", "count": "spec.replicas", **rule}]))
    wrong = pod({"nvidia.com/gpu": "1", "nvidia.com/gpu.shared": "1"})
    for template, gpus in ((wrong, 1), (RIGHT, 0)):
        made = sweep("a")
        made["spec"] |= {"template": template, "pod": template["spec"], "gpus": gpus}
        said = judged(SWEEP, made, cluster=cluster)
        assert said.allowed == (template is RIGHT)
        assert said.allowed or at.format("nvidia.com/gpu.shared") in said.message


def test_a_pod_that_somebody_writes_by_hand_is_judged_and_one_that_its_job_makes_is_not() -> None:
    """Where webhooks are asked about Pods at all: here, because there is a priority class of Koordinator's."""
    world = World(DEFAULTS, autostart=False)
    for kind, api_version, more in (
        ("Namespace", "v1", {}),
        ("PriorityClass", "scheduling.k8s.io/v1", {"value": 5000}),
    ):
        name = "lab" if kind == "Namespace" else "koord-batch"
        assert world.api.create({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}).ok
    wrong = {"apiVersion": "v1", "kind": "Pod", **WRONG}
    wrong["metadata"] = {**WRONG["metadata"], "name": "p", "namespace": "lab"}
    said = world.api.create(wrong)
    assert not said.ok
    assert f"{LIMITS}[nvidia.com/gpu]: Invalid value" in said.message
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    assert world.api.create({**wrong, "metadata": {**wrong["metadata"], "ownerReferences": [owner]}}).ok
