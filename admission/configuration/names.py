"""Names in the file that must be possible in Kubernetes: what nothing can be called matches nothing, silently."""

from admission.configuration.fields import Path, Section, shown
from admission.validation.syntax import dns_label_faults, label_key_faults


def check_resource(section: Section, path: Path, name: str) -> None:
    """`path` begins below the section."""
    _complain(section, path, name, "the name of a resource", label_key_faults(name))


def check_label_key(section: Section, path: Path, key: str) -> None:
    _complain(section, path, key, "the key of a label", label_key_faults(key))


def check_namespace(section: Section, key: str, name: str | None) -> None:
    """None: the file says nothing."""
    if name is not None:
        _complain(section, (key,), name, "the name of a namespace", dns_label_faults(name))


def _complain(section: Section, path: Path, name: str, meant: str, faults: list[str]) -> None:
    if faults:
        section.report.wrong((*section.path, *path), f"{shown(name)} is not {meant}", faults[0])
