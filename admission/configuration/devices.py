"""`resources.deviceClassMappings`: checked as Kueue checks them, so that a file stays good for both; not used here."""

from collections.abc import Sequence

from admission.configuration.fields import Section, shown
from admission.validation.syntax import label_key_faults, subdomain_faults

_MOST_MAPPINGS, _MOST_CLASSES = 16, 8
_LONGEST_NAME, _LONGEST_DRIVER = 253, 63


def check_devices(resources: Section, version: str) -> None:
    mappings = resources.parts("deviceClassMappings")
    if len(mappings) > _MOST_MAPPINGS:
        resources.wrong("deviceClassMappings", f"has {len(mappings)} entries", f"{_MOST_MAPPINGS} at most")
    names: set[str] = set()
    owners: dict[
        str, tuple[str, set[str]]
    ] = {}  # of a device class: the first resource, and the counters that share it
    for mapping in mappings:
        name = mapping.text("name", "")
        _check_name(mapping, ("name",), name)
        if name in names:
            mapping.wrong("name", f"{shown(name)} is mapped twice", "keep one entry per resource")
        names.add(name)
        counter = "" if version == "v1beta1" else _check_sources(mapping)
        _check_classes(mapping, name, counter, owners)


def _check_name(mapping: Section, where: tuple[str | int, ...], name: str) -> None:
    faults = label_key_faults(name)
    if faults or len(name) > _LONGEST_NAME:
        fault = faults[0] if faults else f"must be no more than {_LONGEST_NAME} characters"
        mapping.report.wrong((*mapping.path, *where), f"{shown(name)} is not the name of a resource", fault)


def _check_classes(mapping: Section, name: str, counter: str, owners: dict[str, tuple[str, set[str]]]) -> None:
    classes = mapping.texts("deviceClassNames")
    if not 1 <= len(classes) <= _MOST_CLASSES:
        mapping.wrong("deviceClassNames", f"has {len(classes)} entries", f"name between 1 and {_MOST_CLASSES}")
    for at, one in enumerate(classes):
        path = (*mapping.path, "deviceClassNames", at)
        _check_name(mapping, ("deviceClassNames", at), one)
        if one in classes[:at]:
            mapping.report.wrong(path, f"{shown(one)} is named twice", "keep it once")
        owner, counters = owners.setdefault(one, (name, {counter} - {""}))
        if owner == name:
            continue
        if not counter or not counters:
            mapping.report.wrong(path, f"{shown(one)} is mapped to {owner} already", "keep one of the two")
        elif counter in counters:
            mapping.report.wrong(path, f"{shown(one)} has the counter {counter} already", "name another counter")
        counters.add(counter)


def _check_sources(mapping: Section) -> str:
    """The name of the counter of the first source; "" without one."""
    sources: Sequence[Section] = mapping.parts("sources")
    counters, kinds = [], set()
    for source in sources:
        kind = {name: source.part(name) for name in ("counter", "capacity")}
        present = [name for name, section in kind.items() if section.present]
        if len(present) != 1:
            both = "both counter and capacity" if present else "neither counter nor capacity"
            source.report.wrong(source.path, f"has {both}", "write one of them per entry")
        kinds.update(present)
        counters.append(_check_source(kind["counter"]))
        _check_source(kind["capacity"])
    if len(kinds) > 1:
        mapping.wrong("sources", "mixes counter and capacity", "keep to one of the two in a mapping")
    return counters[0] if counters else ""


def _check_source(source: Section) -> str:
    name, driver = source.text("name", ""), source.text("driver", "")
    expression = source.part("deviceSelector").part("cel").text("expression", "")
    if source.present:
        if not name:
            source.wrong("name", "is missing", "name what is counted")
        if len(driver) > _LONGEST_DRIVER or subdomain_faults(driver):
            source.wrong("driver", f"{shown(driver)} is not the name of a driver", "write it like gpu.example.com")
        if not expression:
            source.wrong("deviceSelector", "has no cel.expression", "say which devices are meant")
    return name
