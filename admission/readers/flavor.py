"""ResourceFlavor JSON -> ResourceFlavor."""

from collections.abc import Mapping
from typing import Any

from admission.model.queues import ResourceFlavor
from admission.model.workload import Taint
from admission.readers.metadata import read_metadata
from admission.readers.narrow import mapping, strings, tuple_of, word
from admission.readers.pod_set import read_toleration


def read_flavor(wire: Mapping[str, Any]) -> ResourceFlavor:
    """Total: any JSON object gives a ResourceFlavor."""
    meta = read_metadata(wire)
    spec = mapping(wire.get("spec"))
    return ResourceFlavor(
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
        deleting=meta.deleting,
        finalizers=meta.finalizers,
        node_labels=strings(spec.get("nodeLabels")),
        taints=tuple_of(_taint, spec.get("nodeTaints")),
        tolerations=tuple_of(read_toleration, spec.get("tolerations")),
        topology=word(spec.get("topologyName")),
    )


def _taint(wire: Mapping[str, Any]) -> Taint:
    return Taint(word(wire.get("key")), word(wire.get("value")), word(wire.get("effect")))
