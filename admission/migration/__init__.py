"""Queues of other systems as ours: what can be carried over becomes manifests, what cannot is told field by field."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from admission.migration.assembling import Surroundings, assemble
from admission.migration.fields import Fault, Findings, Note
from admission.migration.kai import read_kai
from admission.migration.koordinator import read_koordinator
from admission.migration.queues import Tree
from admission.migration.volcano import read_volcano
from admission.migration.yunikorn import read_yunikorn

__all__ = ["SYSTEMS", "Converted", "Fault", "Note", "Surroundings", "convert"]

Read = Callable[[Sequence[Any], Mapping[str, int], Findings], Tree]

SYSTEMS: Mapping[str, Read] = {
    "kai": lambda documents, _, findings: read_kai(documents, findings),
    "koordinator": lambda documents, _, findings: read_koordinator(documents, findings),
    "volcano": read_volcano,
    "yunikorn": lambda documents, _, findings: read_yunikorn(documents, findings),
}


class Converted(NamedTuple):
    """`objects` in an order in which they can be applied; with faults they are not to be used."""

    objects: list[dict[str, Any]]
    notes: list[Note]
    faults: list[Fault]
    tree: Tree


def convert(system: str, documents: Sequence[Any], around: Surroundings) -> Converted:
    """From the objects of one of SYSTEMS; objects of other kinds are passed over. Deterministic and total."""
    findings = Findings([], [])
    tree = SYSTEMS[system](documents, around.total, findings)
    objects = [] if findings.faults else assemble(tree, around, findings)
    return Converted(objects, list(dict.fromkeys(findings.notes)), findings.faults, tree)
