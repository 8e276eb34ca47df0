"""Koordinator's protocol of quality: which words a pod says it with, and which combinations make sense.

A pod has a QoS class (a label) and a priority class (a band of priorities). What it says itself is *raw* and is what
rules judge; where it says nothing, one follows from the other, and that *defaulted* class decides on its resources.
Functions take a pod or a pod template: a mapping with `metadata` and `spec`, of whatever shape. They never raise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from admission.model.amounts import BadQuantity, exact
from admission.model.queues import PriorityClass

QOS_CLASS = "koordinator.sh/qosClass"  # label
SUB_PRIORITY = "koordinator.sh/priority"  # label: order inside of a band
BAND_OVERRIDE = "koordinator.sh/priority-class"  # label: the class, whatever spec.priority says
EXTENDED_RESOURCE_SPEC = "node.koordinator.sh/extended-resource-spec"  # annotation

LSE, LSR, LS, BE, SYSTEM = QOS_CLASSES = ("LSE", "LSR", "LS", "BE", "SYSTEM")

Pod = Mapping[str, Any]
Preset = Literal["compatible", "strict"]
PRESETS: tuple[Preset, ...] = ("compatible", "strict")


class PriorityBand(NamedTuple):
    """Priorities from `lowest` to `highest`. `cpu`, `memory`: what pods ask for in their place; "": the same."""

    name: str
    priority_class: str
    lowest: int
    highest: int
    default: int  # the priority of a pod that says nothing else
    cpu: str = ""
    memory: str = ""

    def holds(self, priority: int) -> bool:
        return self.lowest <= priority <= self.highest


BATCH_CPU, BATCH_MEMORY = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"
MID_CPU, MID_MEMORY = "kubernetes.io/mid-cpu", "kubernetes.io/mid-memory"
PROD = PriorityBand("Prod", "koord-prod", 9000, 9999, 9500)
MID = PriorityBand("Mid", "koord-mid", 7000, 7999, 7500, MID_CPU, MID_MEMORY)
BATCH = PriorityBand("Batch", "koord-batch", 5000, 5999, 5500, BATCH_CPU, BATCH_MEMORY)
FREE = PriorityBand("Free", "koord-free", 3000, 3999, 3500)

Bands = tuple[PriorityBand, ...]
BANDS: Bands = (PROD, MID, BATCH, FREE)
NONE = "None"  # a pod of no band, in the matrix

# QoS class ("": none) -> names of the bands that it goes with. Compatible is what Koordinator 1.7 accepts. Strict takes
# its documentation at its word: who claims a class states the priority that belongs to it. What serves the node itself
# (SYSTEM) has priorities outside of all bands, as system-node-critical, and who claims nothing is judged by nothing.
_ALL = ("Prod", "Mid", "Batch", "Free", NONE)
_OVERCOMMITTED = ("Mid", "Batch", "Free")
Matrix = Mapping[str, tuple[str, ...]]
MATRICES: Mapping[Preset, Matrix] = {
    "compatible": {LSE: _ALL, LSR: ("Prod",), LS: _ALL, BE: _OVERCOMMITTED, SYSTEM: _ALL, "": _ALL},
    "strict": {LSE: ("Prod",), LSR: ("Prod",), LS: ("Prod", "Mid"), BE: _OVERCOMMITTED, SYSTEM: _ALL, "": _ALL},
}


@dataclass(frozen=True, slots=True)
class Koordinator:
    """How Koordinator's words are taken; no field of Kueue's Configuration."""

    preset: Preset = "compatible"
    bands: Bands = BANDS

    @property
    def strict(self) -> bool:
        return self.preset == "strict"

    @property
    def matrix(self) -> Matrix:
        return MATRICES[self.preset]

    def value_of(self, class_named: "FindClass") -> "ValueOfClass":
        """The value of a PriorityClass by name. One that does not exist yet is taken for what its name says."""

        def value(name: str) -> int | None:
            found = class_named(name)
            named = (each.default for each in self.bands if each.priority_class == name)
            return next(named, None) if found is None else found.value

        return value


# The value of a PriorityClass by its name, "" for the cluster's default; None: there is no such class. A template has
# only the name: its pods get the value when they are made.
ValueOfClass = Callable[[str], int | None]
FindClass = Callable[[str], PriorityClass | None]


def raw_qos(pod: Pod) -> str:
    """As the label says; "": it says nothing, or no such class."""
    found = _labels(pod).get(QOS_CLASS)
    return found if found in QOS_CLASSES else ""


def qos(pod: Pod) -> str:
    """As the label says, else what follows from its requests and limits."""
    return raw_qos(pod) or {"Guaranteed": LSR, "Burstable": LS}.get(kubernetes_qos(pod), BE)


def raw_band(pod: Pod, bands: Bands = BANDS, value_of: ValueOfClass | None = None) -> PriorityBand | None:
    """By the label that overrides, else by priority. An override of no class is none, whatever the priority."""
    override = _labels(pod).get(BAND_OVERRIDE)
    if override is not None:
        return next((each for each in bands if each.priority_class == override), None)
    value = stated_priority(pod, value_of)
    return None if value is None else next((each for each in bands if each.holds(value)), None)


def band(pod: Pod, bands: Bands = BANDS, value_of: ValueOfClass | None = None) -> PriorityBand | None:
    """The raw one, else what follows from its QoS class: BE is batch work, everything else is production."""
    found = raw_band(pod, bands, value_of)
    if found is not None:
        return found
    wanted = "Batch" if qos(pod) == BE else "Prod"
    return next((each for each in bands if each.name == wanted), None)


def stated_priority(pod: Pod, value_of: ValueOfClass | None = None) -> int | None:
    """`spec.priority` or, where that is still to come, the value of its class."""
    spec = _mapping(pod.get("spec"))
    value = spec.get("priority")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    name = spec.get("priorityClassName") or ""
    return value_of(name) if value_of is not None and isinstance(name, str) else None


def kubernetes_qos(pod: Pod) -> str:
    """Guaranteed, Burstable or BestEffort, by cpu and memory of all containers."""
    spec = _mapping(pod.get("spec"))
    asked, guaranteed = False, True
    for container in [*_list(spec.get("containers")), *_list(spec.get("initContainers"))]:
        resources = _mapping(_mapping(container).get("resources"))
        limits = _mapping(resources.get("limits"))
        requests = {**limits, **_mapping(resources.get("requests"))}
        for name in ("cpu", "memory"):
            asked = asked or _positive(requests.get(name)) or _positive(limits.get(name))
            # Nearly always both are one text; where they are not, as numbers.
            guaranteed = guaranteed and _positive(limits.get(name)) and _same(requests.get(name), limits.get(name))
    return "BestEffort" if not asked else "Guaranteed" if guaranteed else "Burstable"


def _labels(pod: Pod) -> Mapping[str, Any]:
    return _mapping(_mapping(pod.get("metadata")).get("labels"))


def _positive(quantity: object) -> bool:
    try:
        return quantity is not None and exact(str(quantity)) > 0
    except BadQuantity:
        return False


def _same(left: object, right: object) -> bool:
    try:
        return left == right or exact(str(left)) == exact(str(right))
    except BadQuantity:
        return False


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
