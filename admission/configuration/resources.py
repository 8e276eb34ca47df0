"""`resources`: what of a pod's requests counts, and as what."""

import re
from collections.abc import Iterator
from fractions import Fraction

from admission.configuration.devices import check_devices
from admission.configuration.fields import Section, shown
from admission.configuration.names import check_resource
from admission.model.amounts import BadQuantity, exact
from admission.model.configuration import Resources, Transformation

_PREFIX = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_./]*")  # of a name, with or without a domain
_BLOCK, _IGNORE = "BlockUndeclared", "IgnoreUndeclared"


def read_resources(section: Section, version: str) -> Resources:
    prefixes = _prefixes(section)
    # v1beta1 does not have the field: asking for it there would make it known.
    strategy = section.choice("quotaCheckStrategy", (_BLOCK, _IGNORE), _BLOCK) if version != "v1beta1" else _BLOCK
    if prefixes and strategy == _IGNORE:
        section.wrong(
            "quotaCheckStrategy",
            f"{shown(strategy)} goes ill with excludeResourcePrefixes",
            "remove one of them: what no queue declares is not counted anyway",
        )
    section.without_effect("deviceClassMappings", "devices of ResourceClaims are not counted in this version")
    check_devices(section, version)
    return Resources(prefixes, tuple(_transformations(section)), strategy == _IGNORE)


def _prefixes(section: Section) -> tuple[str, ...]:
    prefixes = section.texts("excludeResourcePrefixes")
    for at, prefix in enumerate(prefixes):
        path = (*section.path, "excludeResourcePrefixes", at)
        if not prefix:
            section.report.wrong(path, "is empty, and would exclude every resource", "remove it")
        elif not _PREFIX.fullmatch(prefix):
            remedy = "write how names begin, like acme.io/"
            section.report.wrong(path, f"{shown(prefix)} begins no name of a resource", remedy)
    return prefixes


def _transformations(section: Section) -> Iterator[Transformation]:
    seen: set[str] = set()
    for entry in section.parts("transformations"):
        name = entry.text("input", "")
        if not name:
            entry.wrong("input", "is missing", "name the resource that is transformed")
        elif name in seen:
            entry.wrong("input", f"{shown(name)} is transformed twice", "merge the two entries: outputs are added")
        else:
            check_resource(entry, ("input",), name)
        seen.add(name)
        strategy = entry.choice("strategy", ("Retain", "Replace"), "Retain")
        factor = entry.text("multiplyBy", "")
        if factor:
            check_resource(entry, ("multiplyBy",), factor)
        yield Transformation(name, _outputs(entry), strategy == "Replace", factor)


def _outputs(entry: Section) -> dict[str, Fraction]:
    outputs = {}
    for resource, value in entry.table("outputs").items():
        path = (*entry.path, "outputs", resource)
        check_resource(entry, ("outputs", resource), resource)
        try:
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise BadQuantity
            outputs[resource] = exact(str(value))
            if outputs[resource] < 0:
                entry.report.wrong(path, f"{shown(value)} is negative", "write a quantity from 0")
        except BadQuantity:
            entry.report.wrong(path, f"{shown(value)} is not a quantity", "write it like 500m, 2 or 1Gi")
    return outputs
