"""AdmissionCheck JSON -> AdmissionCheck; Topology JSON -> Topology."""

from collections.abc import Mapping
from typing import Any

from admission.model.names import ACTIVE
from admission.model.queues import AdmissionCheck, Topology
from admission.readers.metadata import read_conditions, read_metadata
from admission.readers.narrow import mapping, word


def read_admission_check(wire: Mapping[str, Any]) -> AdmissionCheck:
    """Total: any JSON object gives an AdmissionCheck."""
    meta = read_metadata(wire)
    active = read_conditions(mapping(wire.get("status")).get("conditions")).get(ACTIVE)
    return AdmissionCheck(
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
        deleting=meta.deleting,
        finalizers=meta.finalizers,
        controller_name=word(mapping(wire.get("spec")).get("controllerName")),
        active=active.true if active is not None else None,
    )


def read_topology(wire: Mapping[str, Any]) -> Topology:
    """Total: any JSON object gives a Topology."""
    meta = read_metadata(wire)
    return Topology(name=meta.name, resource_version=meta.resource_version)
