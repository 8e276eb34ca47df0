"""The accelerators that are known by the names under which Kubernetes is asked for them.

Data, as a table that anybody may extend (docs/accelerators.md says how, by a ConfigMap); names that are not in it are
no accelerators to us, and pass. Where vendors offer shares of a device, a `Sharing` tells which names belong together.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from admission.model.accelerators import FRACTION, FRACTION_DEVICES, FRACTION_MEMORY, Accelerator, Catalogue, Unit

_GIB = 2**30
_THOUSAND = 1000

# Devices that are asked for whole, and by nothing else. A vendor's name, and the names of its resources.
_WHOLE = (
    ("NVIDIA", "nvidia.com/gpu.shared"),  # time slicing or MPS: a replica may use all of its device
    ("AMD", "amd.com/gpu"),
    ("Intel", "gpu.intel.com/i915", "gpu.intel.com/xe", "npu.intel.com/accel", "habana.ai/gaudi"),
    ("Google", "google.com/tpu"),
    ("AWS", "aws.amazon.com/neuron", "aws.amazon.com/neurondevice"),
    ("Graphcore", "c600.graphcore.ai/ipu"),
    ("Rebellions", "rebellions.ai/ATOM", "rebellions.ai/REBEL", "rebellions.ai/npu", "rebellions.ai/atomplus"),
    ("FuriosaAI", "furiosa.ai/warboy", "furiosa.ai/rngd", "beta.furiosa.ai/npu", "alpha.furiosa.ai/npu"),
    ("HyperAccel", "hyperaccel.ai/lpu", "hyperaccel.ai/bertha"),
    ("Tenstorrent", "tenstorrent.com/n150", "tenstorrent.com/n300"),
    ("Tenstorrent", "tenstorrent.com/blackhole", "tenstorrent.com/grayskull"),
    ("Huawei", "huawei.com/Ascend310", "huawei.com/Ascend910"),
    ("Cambricon", "cambricon.com/mlu", "cambricon.com/mlu370", "cambricon.com/mlu.share", "cambricon.com/mlu370.share"),
    ("Cambricon", "cambricon.com/mlu.mim-*", "cambricon.com/mlu370.mim-*"),
    ("MetaX", "metax-tech.com/gpu"),
    ("Iluvatar", "iluvatar.com/gpu", "iluvatar.ai/gpu"),
    ("Hygon", "hygon.com/dcu", "dcu.com/gpu"),
    ("Moore Threads", "mthreads.com/gpu"),
    ("Kunlunxin", "kunlunxin.com/xpu"),
    ("Enflame", "enflame.com/gcu", "enflame.com/shared-gcu", "enflame.com/drs-gcu"),
    ("Biren", "birentech.com/gpu"),
    ("Vastai", "vastaitech.com/va"),
    ("Qualcomm", "qualcomm.com/qaic"),
    ("IBM", "ibm.com/spyre_pf"),
)

# Parts of a device that have a name of their own: vendor, name, thousandths of a device, GiB of memory or None.
_PARTS: tuple[tuple[str, str, int, int | None], ...] = (
    ("AWS", "aws.amazon.com/neuroncore", 500, None),  # two to a chip in Trainium 1 and Inferentia 2
    ("Biren", "birentech.com/1-2-gpu", 500, None),
    ("Biren", "birentech.com/1-4-gpu", 250, None),
    # Of an MI300X: its partitions by compute, each with its share of 192 GiB.
    ("AMD", "amd.com/spx_nps*", 1000, 192),
    ("AMD", "amd.com/dpx_nps*", 500, 96),
    ("AMD", "amd.com/qpx_nps*", 250, 48),
    ("AMD", "amd.com/cpx_nps*", 125, 24),
)

# MIG profiles: compute slices, of how many, and the GiB of each size of card that has such slices. A slice counts as
# its thousandths of a card, rounded down: seven slices of a card never come to more than the card.
_MIG: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (1, 7, (5, 10, 12, 18, 20, 23, 35, 45)),
    (2, 7, (10, 20, 24, 35, 45)),
    (3, 7, (20, 40, 48, 71, 90)),
    (4, 7, (20, 40, 48, 71, 90)),
    (7, 7, (40, 80, 96, 141, 180)),
    # A30 and RTX PRO 6000 have four slices. A GH200 has a 1g.24gb too: it holds a quarter of its memory.
    (1, 4, (6, 24)),
    (2, 4, (12, 48)),
    (4, 4, (24, 96)),
)


class Sharing(NamedTuple):
    """Names that belong together: one that counts devices, and those that say which share of a device is meant."""

    vendor: str
    devices: str
    shares: tuple[tuple[str, Unit], ...]
    per_device: bool = True  # the shares are said of each device; else of all of them together


_SHARED = (
    # HAMi
    Sharing(
        "NVIDIA",
        "nvidia.com/gpu",
        (
            ("nvidia.com/gpucores", "percent"),
            ("nvidia.com/gpumem", "MiB"),
            ("nvidia.com/gpumem-percentage", "memory-percent"),
        ),
    ),
    *(
        Sharing("Huawei", f"huawei.com/{chip}", ((f"huawei.com/{chip}-memory", "MiB"),))
        for chip in ("Ascend310P", "Ascend910A", "Ascend910B", "Ascend910B2", "Ascend910B3", "Ascend910B4")
    ),
    Sharing(
        "Cambricon",
        "cambricon.com/vmlu",
        (("cambricon.com/mlu.smlu.vcore", "percent"), ("cambricon.com/mlu.smlu.vmemory", "part")),
    ),
    Sharing("Hygon", "hygon.com/dcunum", (("hygon.com/dcucores", "percent"), ("hygon.com/dcumem", "MiB"))),
    Sharing("MetaX", "metax-tech.com/sgpu", (("metax-tech.com/vcore", "percent"), ("metax-tech.com/vmemory", "part"))),
    Sharing(
        "Iluvatar", "iluvatar.ai/vgpu", (("iluvatar.ai/vcuda-core", "percent"), ("iluvatar.ai/vcuda-memory", "part"))
    ),
    Sharing(
        "Moore Threads",
        "mthreads.com/vgpu",
        (("mthreads.com/sgpu-core", "part"), ("mthreads.com/sgpu-memory", "part")),
    ),
    Sharing("Kunlunxin", "kunlunxin.com/vxpu", (("kunlunxin.com/vxpu-memory", "MiB"),)),
    # Volcano
    Sharing(
        "NVIDIA",
        "volcano.sh/vgpu-number",
        (
            ("volcano.sh/vgpu-cores", "percent"),
            ("volcano.sh/vgpu-memory", "MiB"),
            ("volcano.sh/vgpu-memory-percentage", "memory-percent"),
        ),
    ),
    # Koordinator: of all devices together, and for the chips of any vendor
    Sharing(
        "Koordinator",
        "koordinator.sh/gpu.shared",
        (
            ("koordinator.sh/gpu", "percent"),
            ("koordinator.sh/gpu-core", "percent"),
            ("koordinator.sh/gpu-memory-ratio", "memory-percent"),
            ("koordinator.sh/gpu-memory", "byte"),
            ("huawei.com/npu-core", "part"),
            ("huawei.com/npu-cpu", "part"),
            ("huawei.com/npu-dvpp", "part"),
        ),
        per_device=False,
    ),
    # KAI: annotations of the pod
    Sharing("NVIDIA", FRACTION_DEVICES, ((FRACTION, "fraction"), (FRACTION_MEMORY, "MiB"))),
)

_KOORDINATOR = tuple(
    f"koordinator.sh/{name}" for name in ("gpu", "gpu.shared", "gpu-core", "gpu-memory-ratio", "gpu-memory")
)

# Names of which no container asks for one of the first together with one of the second.
_EXCLUSIVE: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("nvidia.com/gpu",), ("nvidia.com/gpu.shared", "nvidia.com/mig-*", FRACTION, FRACTION_MEMORY)),
    (("nvidia.com/gpu.shared",), ("nvidia.com/mig-*", FRACTION, FRACTION_MEMORY)),
    ((FRACTION,), (FRACTION_MEMORY,)),
    (("nvidia.com/gpumem",), ("nvidia.com/gpumem-percentage",)),
    (("volcano.sh/vgpu-memory",), ("volcano.sh/vgpu-memory-percentage",)),
    (("aws.amazon.com/neuroncore",), ("aws.amazon.com/neurondevice", "aws.amazon.com/neuron")),
    (_KOORDINATOR, ("nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu")),
    (("koordinator.sh/gpu",), ("koordinator.sh/gpu.shared", "koordinator.sh/gpu-core")),
    (("koordinator.sh/gpu",), ("koordinator.sh/gpu-memory-ratio", "koordinator.sh/gpu-memory")),
    (("koordinator.sh/gpu-memory",), ("koordinator.sh/gpu-memory-ratio",)),
)

_MEMORY = ("koordinator.sh/gpu-memory", "koordinator.sh/gpu-memory-ratio")
# Names that mean nothing unless one of the others is asked for beside them.
_NEEDS = {
    FRACTION_DEVICES: (FRACTION, FRACTION_MEMORY),
    "koordinator.sh/gpu.shared": _MEMORY,
    "koordinator.sh/gpu-core": _MEMORY,
}


def _known() -> Iterator[Accelerator]:
    for vendor, *names in _WHOLE:
        for name in names:
            yield Accelerator(name, vendor)
    for vendor, name, thousandths, gib in _PARTS:
        yield Accelerator(name, vendor, "device", Fraction(thousandths, _THOUSAND), gib and gib * _GIB)
    for slices, of, sizes in _MIG:
        worth = Fraction(slices * _THOUSAND // of, _THOUSAND)
        for gib in sizes:
            for variant in ("", ".*"):  # with media engines, say: nvidia.com/mig-1g.10gb.me
                yield Accelerator(f"nvidia.com/mig-{slices}g.{gib}gb{variant}", "NVIDIA", "device", worth, gib * _GIB)
    yield Accelerator("nvidia.com/mig-*", "NVIDIA")  # a profile that nobody told us of: a whole card, to be safe
    for sharing in _SHARED:
        yield Accelerator(sharing.devices, sharing.vendor)
        for name, unit in sharing.shares:
            yield Accelerator(name, sharing.vendor, unit, of=sharing.devices, per_device=sharing.per_device)


def _related() -> Iterator[Accelerator]:
    """Each with what it excludes and needs; exclusion goes both ways, and of a pattern for all that fit it."""
    excluded: dict[str, list[str]] = {}
    for some, others in _EXCLUSIVE:
        for name in some:
            for other in others:
                excluded.setdefault(name, []).append(other)
                excluded.setdefault(other, []).append(name)
    for one in _known():
        pattern = "nvidia.com/mig-*" if one.name.startswith("nvidia.com/mig-") else one.name
        yield one._replace(excludes=tuple(excluded.get(pattern, ())), needs=_NEEDS.get(one.name, ()))


CATALOGUE = Catalogue(_related())
