"""`metrics`: what is published besides the usual."""

import re

from admission.configuration.fields import Section, shown
from admission.configuration.selectors import read_selector_field
from admission.model.configuration import Metrics
from admission.model.selectors import EVERYTHING
from admission.validation.syntax import label_key_faults

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
_MOST_LABELS, _MOST_VALUES, _MOST_WORKLOAD_VALUES = 20, 16, 12
_MOST_PER_KIND = {"ClusterQueue": 6, "Cohort": 6, "LocalQueue": 6, "Workload": 2}


def read_metrics(section: Section, version: str) -> Metrics:
    queues = section.part("localQueueMetrics")
    selector = read_selector_field(queues, "localQueueSelector")
    on = queues.flag("enable", False) if queues.present else True
    section.without_effect("customLabels", "metrics carry no labels of their own choice in this version")
    _check_labels(section, version)
    return Metrics(
        cluster_queue_resources=section.flag("enableClusterQueueResources", False),
        local_queues=(selector or EVERYTHING) if on else None,
    )


def _check_labels(section: Section, version: str) -> None:
    labels = section.parts("customLabels")
    if len(labels) > _MOST_LABELS:
        section.wrong("customLabels", f"has {len(labels)} entries", f"{_MOST_LABELS} at most")
    names: set[str] = set()
    kinds: dict[str, int] = {}
    for label in labels:
        name = label.text("name", "")
        if not _NAME.fullmatch(name):
            label.wrong("name", f"{shown(name)} is not a name", "start with a letter; letters, digits and _ follow")
        elif name in names:
            label.wrong("name", f"{shown(name)} is taken", "give each label a name of its own")
        names.add(name)
        _check_source(label)
        if version != "v1beta1":
            kind = _check_kind(label)
            kinds[kind] = kinds.get(kind, 0) + 1
    for kind, count in kinds.items():
        if count > _MOST_PER_KIND[kind]:
            section.wrong("customLabels", f"has {count} entries for {kind}", f"{_MOST_PER_KIND[kind]} at most")


def _check_source(label: Section) -> None:
    keys = {key: label.text(key, "") for key in ("sourceLabelKey", "sourceAnnotationKey")}
    if all(keys.values()):
        label.report.wrong(label.path, "has both sourceLabelKey and sourceAnnotationKey", "keep one of them")
    for field, key in keys.items():
        for fault in label_key_faults(key) if key else ():
            label.wrong(field, f"{shown(key)} is not a key", fault)


def _check_kind(label: Section) -> str:
    kind = label.choice("sourceKind", tuple(_MOST_PER_KIND), "ClusterQueue")
    values = label.texts("trackedValues")
    least, most = (1, _MOST_WORKLOAD_VALUES) if kind == "Workload" else (0, _MOST_VALUES)
    if not least <= len(values) <= most:
        label.wrong("trackedValues", f"has {len(values)} entries", f"between {least} and {most} for a {kind}")
    if len(set(values)) < len(values):
        label.wrong("trackedValues", "names a value twice", "keep each once")
    return kind
