"""What pods come to in accelerators and their memory: a table worked out by hand, one row or more for each vendor, and
laws."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.model.accelerators import ACCELERATORS, ANNOTATIONS, ANY, MEMORY, Accelerator
from admission.model.amounts import amount, text
from admission.model.configuration import Resources, Transformation
from admission.readers.workload import read_workload
from admission.resources.accelerators import accelerators
from admission.resources.catalogue import CATALOGUE
from admission.resources.effective import Adjustment
from tests.core.test_readers_garbage import garbage

GIB = 2**30
MIB = 2**20
PLAIN = Resources()

# What a container asks for (annotations stand beside resources) -> thousandths of a device, bytes.
TABLE: list[tuple[str, dict[str, str], int, int]] = [
    ("NVIDIA: whole GPUs", {"nvidia.com/gpu": "8"}, 8000, 0),
    ("NVIDIA: replicas of shared GPUs may use all of them", {"nvidia.com/gpu.shared": "2"}, 2000, 0),
    ("NVIDIA: a MIG slice of seven", {"nvidia.com/mig-1g.5gb": "1"}, 142, 5 * GIB),
    ("NVIDIA: three sevenths, twice", {"nvidia.com/mig-3g.40gb": "2"}, 856, 80 * GIB),
    ("NVIDIA: all slices are the card", {"nvidia.com/mig-7g.141gb": "1"}, 1000, 141 * GIB),
    ("NVIDIA: a slice with media engines", {"nvidia.com/mig-1g.10gb.me": "1"}, 142, 10 * GIB),
    ("NVIDIA: an A30 has four slices", {"nvidia.com/mig-2g.12gb": "1"}, 500, 12 * GIB),
    ("NVIDIA: an unknown profile is a card", {"nvidia.com/mig-5g.60gb": "2"}, 2000, 0),
    ("NVIDIA: slices of two sizes", {"nvidia.com/mig-1g.5gb": "2", "nvidia.com/mig-2g.10gb": "1"}, 569, 20 * GIB),
    ("HAMi: cores of each", {"nvidia.com/gpu": "2", "nvidia.com/gpucores": "30"}, 600, 0),
    ("HAMi: memory of each, of unknown cards", {"nvidia.com/gpu": "2", "nvidia.com/gpumem": "3000"}, 2000, 6000 * MIB),
    (
        "HAMi: cores and memory of each",
        {"nvidia.com/gpu": "3", "nvidia.com/gpumem": "1024", "nvidia.com/gpucores": "25"},
        750,
        3 * GIB,
    ),
    ("HAMi: a part of the memory of each", {"nvidia.com/gpu": "4", "nvidia.com/gpumem-percentage": "50"}, 2000, 0),
    (
        "HAMi: the larger part counts",
        {"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "40", "nvidia.com/gpucores": "60"},
        600,
        0,
    ),
    ("HAMi: memory alone is of one GPU", {"nvidia.com/gpumem": "2048"}, 1000, 2 * GIB),
    ("HAMi: 0 % is no limit", {"nvidia.com/gpu": "1", "nvidia.com/gpucores": "0"}, 1000, 0),
    ("KAI: a fraction", {"gpu-fraction": "0.5"}, 500, 0),
    ("KAI: a fraction of each of four", {"gpu-fraction": "0.25", "gpu-fraction-num-devices": "4"}, 1000, 0),
    ("KAI: memory of an unknown GPU", {"gpu-memory": "4096"}, 1000, 4 * GIB),
    ("KAI: memory of each of two", {"gpu-memory": "4096", "gpu-fraction-num-devices": "2"}, 2000, 8 * GIB),
    ("KAI: a number of devices alone is no wish", {"gpu-fraction-num-devices": "4"}, 0, 0),
    ("KAI: a third is rounded up", {"gpu-fraction": "0.3333"}, 334, 0),
    ("Volcano: cores of each", {"volcano.sh/vgpu-number": "2", "volcano.sh/vgpu-cores": "50"}, 1000, 0),
    ("Volcano: memory of each", {"volcano.sh/vgpu-number": "2", "volcano.sh/vgpu-memory": "512"}, 2000, GIB),
    ("Koordinator: percent of a card", {"koordinator.sh/gpu": "50"}, 500, 0),
    ("Koordinator: two cards", {"koordinator.sh/gpu": "200"}, 2000, 0),
    (
        "Koordinator: of all devices together",
        {"koordinator.sh/gpu.shared": "2", "koordinator.sh/gpu-core": "100", "koordinator.sh/gpu-memory-ratio": "100"},
        1000,
        0,
    ),
    (
        "Koordinator: core and bytes",
        {"koordinator.sh/gpu-core": "30", "koordinator.sh/gpu-memory": "8Gi"},
        300,
        8 * GIB,
    ),
    (
        "Koordinator: bytes of two",
        {"koordinator.sh/gpu.shared": "2", "koordinator.sh/gpu-memory": "16Gi"},
        2000,
        16 * GIB,
    ),
    (
        "Koordinator: an NPU by its ratio",
        {"huawei.com/npu-core": "20", "koordinator.sh/gpu-memory-ratio": "100"},
        1000,
        0,
    ),
    ("AMD", {"amd.com/gpu": "8"}, 8000, 0),
    ("AMD: an eighth of an MI300X", {"amd.com/cpx_nps4": "4"}, 500, 96 * GIB),
    ("AMD: undivided", {"amd.com/spx_nps1": "1"}, 1000, 192 * GIB),
    ("Intel GPU", {"gpu.intel.com/i915": "1", "gpu.intel.com/xe": "2"}, 3000, 0),
    ("Intel Gaudi", {"habana.ai/gaudi": "8"}, 8000, 0),
    ("Intel: its monitoring is no device", {"gpu.intel.com/i915_monitoring": "1"}, 0, 0),
    ("Google", {"google.com/tpu": "4"}, 4000, 0),
    ("AWS: two cores are a chip", {"aws.amazon.com/neuroncore": "3"}, 1500, 0),
    ("AWS: chips", {"aws.amazon.com/neurondevice": "16"}, 16000, 0),
    ("Rebellions", {"rebellions.ai/ATOM": "2"}, 2000, 0),
    ("Rebellions: names are told apart by case", {"rebellions.ai/atom": "2"}, 0, 0),
    ("FuriosaAI", {"furiosa.ai/rngd": "1", "beta.furiosa.ai/npu": "1"}, 2000, 0),
    ("Graphcore", {"c600.graphcore.ai/ipu": "4"}, 4000, 0),
    ("HyperAccel", {"hyperaccel.ai/lpu": "1"}, 1000, 0),
    ("Tenstorrent", {"tenstorrent.com/n300": "2"}, 2000, 0),
    ("Huawei: whole", {"huawei.com/Ascend910": "8"}, 8000, 0),
    (
        "Huawei: memory of each",
        {"huawei.com/Ascend910B2": "2", "huawei.com/Ascend910B2-memory": "16384"},
        2000,
        32 * GIB,
    ),
    ("Cambricon", {"cambricon.com/mlu370": "4"}, 4000, 0),
    ("Cambricon: cores of each", {"cambricon.com/vmlu": "2", "cambricon.com/mlu.smlu.vcore": "10"}, 200, 0),
    ("MetaX", {"metax-tech.com/sgpu": "2", "metax-tech.com/vcore": "25"}, 500, 0),
    ("Iluvatar", {"iluvatar.com/gpu": "1"}, 1000, 0),
    ("Hygon", {"hygon.com/dcunum": "2", "hygon.com/dcumem": "1024", "hygon.com/dcucores": "50"}, 1000, 2 * GIB),
    ("Moore Threads", {"mthreads.com/vgpu": "1", "mthreads.com/sgpu-core": "8"}, 1000, 0),
    ("Kunlunxin", {"kunlunxin.com/vxpu": "1", "kunlunxin.com/vxpu-memory": "24576"}, 1000, 24 * GIB),
    ("Enflame", {"enflame.com/gcu": "2"}, 2000, 0),
    ("Biren: quarters", {"birentech.com/1-4-gpu": "6"}, 1500, 0),
    ("Vastai", {"vastaitech.com/va": "1"}, 1000, 0),
    ("Qualcomm", {"qualcomm.com/qaic": "4"}, 4000, 0),
    ("IBM", {"ibm.com/spyre_pf": "2"}, 2000, 0),
    ("nothing that is known", {"cpu": "4", "memory": "8Gi", "acme.example/wafer": "7", "rdma/hca": "1"}, 0, 0),
]


def charged(*containers: dict[str, str], settings: Resources = PLAIN, **spec: Any) -> dict[str, int]:
    """Of one pod, as the scheduler sees it."""
    notes = {name: value for each in containers for name, value in each.items() if name in ANNOTATIONS}
    asked = [{name: value for name, value in each.items() if name not in ANNOTATIONS} for each in containers]
    template = {
        "metadata": {"annotations": notes},
        "spec": {"containers": [{"resources": {"requests": each}} for each in asked], **spec},
    }
    workload = read_workload({"spec": {"podSets": [{"template": template}]}})
    return dict(Adjustment(settings).of(workload, None, {}).pod_sets[0].requests)


@pytest.mark.parametrize(("asked", "thousandths", "size"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_a_pod_comes_to(asked: dict[str, str], thousandths: int, size: int) -> None:
    found = charged(asked)
    assert (found.get(ACCELERATORS, 0), found.get(MEMORY, 0)) == (thousandths, size)
    for name, stated in asked.items():
        if name not in ANNOTATIONS:
            assert found[name] == amount(name, stated), "what it asks for itself is kept"


def test_what_comes_to_nothing_is_not_asked_for() -> None:
    assert charged({"cpu": "4", "acme.example/wafer": "1"}) == {"acme.example/wafer": 1, "cpu": 4000}


def test_what_is_said_per_device_is_of_the_devices_of_its_own_container() -> None:
    one = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "3000", "nvidia.com/gpucores": "30"}
    found = charged(one, one)
    assert (found[ACCELERATORS], found[MEMORY]) == (600, 6000 * MIB)


def test_of_what_comes_before_and_what_runs_the_larger_counts() -> None:
    before = [{"resources": {"requests": {"amd.com/gpu": "3"}}}]
    assert charged({"nvidia.com/gpu": "2"}, initContainers=before)[ACCELERATORS] == 3000


def test_a_limit_stands_for_a_request() -> None:
    found = charged(containers=[{"resources": {"limits": {"nvidia.com/gpu": "2"}}}])
    assert found[ACCELERATORS] == 2000


def test_what_the_pod_asks_for_by_annotation_comes_on_top_of_its_containers() -> None:
    assert charged({"gpu-fraction": "0.5"}, {"amd.com/gpu": "1"})[ACCELERATORS] == 1500


def test_prefixes_take_away_the_names_and_leave_what_they_come_to() -> None:
    settings = Resources(exclude_prefixes=("nvidia.com/",))
    assert charged({"nvidia.com/gpu": "2"}, settings=settings) == {ACCELERATORS: 2000}


def test_transformations_add_to_it_and_may_take_it_as_their_input() -> None:
    wafers = Transformation("acme.example/wafer", {ACCELERATORS: Fraction(4)}, replace=True)
    points = Transformation(ACCELERATORS, {"points": Fraction(10)})
    found = charged({"nvidia.com/gpu": "2", "acme.example/wafer": "1"}, settings=Resources((), (wafers, points)))
    assert found == {"nvidia.com/gpu": 2, ACCELERATORS: 6000, "points": 20}


def test_nobody_evades_it_by_asking_for_none_of_it() -> None:
    assert charged({"nvidia.com/gpu": "2", ACCELERATORS: "0"})[ACCELERATORS] == 2000


def test_quota_is_given_in_whole_devices_and_in_parts() -> None:
    assert [amount(ACCELERATORS, said) for said in ("16", "0.5", "250m", "1k")] == [16000, 500, 250, 10**6]
    assert [text(ACCELERATORS, units) for units in (16000, 500, 1500, 10**6)] == ["16", "500m", "1500m", "1k"]
    assert text(MEMORY, 640 * GIB) == "640Gi"


def test_who_knows_the_memory_of_a_device_says_so_once_and_shares_are_reckoned_from_it() -> None:
    known = CATALOGUE.but(
        [
            Accelerator("nvidia.com/gpu", "NVIDIA", memory=80 * GIB),
            Accelerator("gpu-fraction-num-devices", "NVIDIA", memory=80 * GIB),
        ]
    )
    rows: list[tuple[dict[str, Fraction | int], Fraction, int]] = [
        ({"nvidia.com/gpu": 2}, Fraction(2), 160 * GIB),
        ({"nvidia.com/gpu": 2, "nvidia.com/gpumem": 20 * 1024}, Fraction(1, 2), 40 * GIB),
        ({"nvidia.com/gpu": 1, "nvidia.com/gpumem": 20 * 1024, "nvidia.com/gpucores": 50}, Fraction(1, 2), 20 * GIB),
        ({"nvidia.com/gpu": 2, "nvidia.com/gpumem-percentage": 10}, Fraction(1, 5), 16 * GIB),
        ({"gpu-memory": 8 * 1024}, Fraction(1, 10), 8 * GIB),
        ({"gpu-fraction": Fraction(1, 4), "gpu-fraction-num-devices": 2}, Fraction(1, 2), 40 * GIB),
    ]
    for asked, count, size in rows:
        exact = {name: Fraction(units) for name, units in asked.items()}
        assert accelerators(exact, known) == {ACCELERATORS: count, MEMORY: size}, asked


# --- laws

NAMES = sorted(one.name.replace(ANY, "x") for one in CATALOGUE)
REQUESTS = st.dictionaries(
    st.sampled_from(NAMES), st.fractions(min_value=0, max_value=10**6, max_denominator=1000), max_size=4
)


@given(REQUESTS)
def test_it_is_never_negative_and_never_told_when_there_is_none(asked: dict[str, Fraction]) -> None:
    assert all(units > 0 for units in accelerators(asked, CATALOGUE).values())


@given(REQUESTS, st.integers(min_value=1, max_value=1000))
def test_it_is_linear_in_the_number_of_devices(asked: dict[str, Fraction], factor: int) -> None:
    """Of so many times the devices, each shared as before; what is said of all of them together grows as they do."""
    devices = {one.name.replace(ANY, "x"): Fraction(1) for one in CATALOGUE if one.counts_devices}
    asked = {name: units for name, units in asked.items() if units > 0}
    asked = {**{one.of: Fraction(1) for name in asked if (one := _entry(name)).of}, **asked}
    grown = {
        name: units * factor if name in devices or not _entry(name).per_device else units
        for name, units in asked.items()
    }
    once, often = accelerators(asked, CATALOGUE), accelerators(grown, CATALOGUE)
    assert often == {name: units * factor for name, units in once.items()}


def test_slices_of_a_card_never_come_to_more_than_the_card() -> None:
    for one in CATALOGUE:
        if one.name.startswith("nvidia.com/mig-") and not one.name.endswith("-*"):
            slices = int(one.name.removeprefix("nvidia.com/mig-").partition("g.")[0])
            in_all = 4 if one.accelerators * 4 == slices else 7
            assert in_all // slices * one.accelerators <= 1 < (in_all // slices + 1) * one.accelerators, one.name


@given(garbage)
def test_garbage_where_annotations_and_requests_belong_never_raises(value: Any) -> None:
    for template in (
        {"metadata": value},
        {"metadata": {"annotations": value}},
        {"metadata": {"annotations": {"gpu-fraction": value, "gpu-memory": value}}},
        {"spec": {"containers": [{"resources": {"requests": {"nvidia.com/gpu": value, "nvidia.com/gpumem": value}}}]}},
    ):
        found = Adjustment(PLAIN).of(read_workload({"spec": {"podSets": [{"template": template}]}}), None, {})
        assert all(units >= 0 for units in found.pod_sets[0].requests.values())


def _entry(name: str) -> Accelerator:
    found = CATALOGUE.find(name)
    assert found is not None
    return found
