"""docs/accelerators.md has the catalogue as it is, and the example does what its README says."""

import re
from collections.abc import Iterator
from pathlib import Path

from admission.model.accelerators import ACCELERATORS, CONFIG_MAP, CONFIG_MAP_KEY, MEMORY, Accelerator
from admission.model.amounts import exact, text
from admission.readers.catalogue import read_catalogue
from admission.resources.catalogue import CATALOGUE
from controller.cli.playing import prepared
from controller.kit.documents import read_yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "accelerators.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "accelerators"

_ROW = re.compile(r"^\| (`.*) \| (.*) \| (.*) \| (.*) \| (.*) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)


def row(one: Accelerator) -> tuple[str, ...]:
    """What the table says of a name, but for the name."""
    share = f"`{one.of}`, {'of each' if one.per_device else 'of all together'}" if one.of else ""
    counts = f"{float(one.accelerators):g}" if one.counts_devices else ""
    memory = "" if one.memory is None else text(MEMORY, one.memory)
    return (one.vendor, one.unit, counts, memory, share, _names(one.excludes), _names(one.needs))


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def documented() -> Iterator[tuple[str, tuple[str, ...]]]:
    for names, *rest in _ROW.findall(PAGE):
        for name in re.findall(r"`([^`]+)`", names):
            yield name, tuple(rest)


def test_the_table_of_the_documentation_is_the_catalogue() -> None:
    shown = list(documented())
    assert len(shown) == len(dict(shown)), "each name once"
    assert dict(shown) == {one.name: row(one) for one in CATALOGUE}


def test_vendors_are_as_many_as_the_documentation_says() -> None:
    (said,) = re.findall(r"(\d+) vendors", PAGE)
    assert int(said) == len({one.vendor for one in CATALOGUE} - {"Koordinator"})


def test_the_config_map_that_is_shown_is_read_without_a_complaint() -> None:
    (shown,) = re.findall(r"```yaml\n(apiVersion: v1\nkind: ConfigMap.*?)```", PAGE, re.DOTALL)
    (document,) = read_yaml(shown)
    found = read_catalogue(document.content)
    assert (found.name, found.namespace, found.faults) == (CONFIG_MAP, "kueue-system", ())
    assert CONFIG_MAP_KEY in document.content["data"]
    fields = {field for _, stated in found.changes for field in stated}
    assert fields == set(Accelerator._fields) - {"name"}, "it shows every field"


def test_the_example_does_what_its_readme_says() -> None:
    simulation, _ = prepared([EXAMPLE], None, None)
    simulation.run(None)
    said = dict(re.findall(r"^\| \*(\w+)\*.* \| ([\d.]+) \|", (EXAMPLE / "README.md").read_text(), re.MULTILINE))
    state = simulation.state
    found = {}
    for slot in state.objects.workloads.values():
        workload = slot.current
        assert workload is not None
        assert workload.admission is not None, "all start in the end"
        _, job, _ = workload.name.split("-")
        found[job] = workload.admission.usage()["default", ACCELERATORS]
    assert found == {name: exact(units) * 1000 for name, units in said.items()}
