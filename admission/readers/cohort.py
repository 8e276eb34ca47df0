"""Cohort JSON -> Cohort."""

from collections.abc import Mapping
from typing import Any

from admission.model.queues import Cohort
from admission.readers.metadata import read_metadata
from admission.readers.narrow import mapping, word
from admission.readers.queue_status import read_queue_status
from admission.readers.quotas import read_groups, read_weight


def read_cohort(wire: Mapping[str, Any]) -> Cohort:
    """Total: any JSON object gives a Cohort."""
    meta = read_metadata(wire)
    spec = mapping(wire.get("spec"))
    return Cohort(
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
        parent=word(spec.get("parentName")),
        groups=read_groups(spec.get("resourceGroups")),
        generation=meta.generation,
        weight=read_weight(spec),
        status=read_queue_status(wire.get("status")),
    )
