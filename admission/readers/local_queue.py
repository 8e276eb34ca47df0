"""LocalQueue JSON -> LocalQueue."""

from collections.abc import Mapping
from typing import Any

from admission.model.queues import LocalQueue
from admission.readers.cluster_queue import STOP_POLICIES
from admission.readers.metadata import read_metadata
from admission.readers.narrow import choice, mapping, word
from admission.readers.queue_status import read_queue_status
from admission.readers.quotas import read_weight


def read_local_queue(wire: Mapping[str, Any]) -> LocalQueue:
    """Total: any JSON object gives a LocalQueue."""
    meta = read_metadata(wire)
    spec = mapping(wire.get("spec"))
    return LocalQueue(
        namespace=meta.namespace,
        name=meta.name,
        cluster_queue=word(spec.get("clusterQueue")),
        uid=meta.uid,
        resource_version=meta.resource_version,
        generation=meta.generation,
        deleting=meta.deleting,
        stop_policy=choice(spec.get("stopPolicy"), *STOP_POLICIES),
        weight=read_weight(spec),
        labels=meta.labels,
        status=read_queue_status(wire.get("status")),
    )
