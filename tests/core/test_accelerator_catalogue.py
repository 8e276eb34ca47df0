"""People add to the catalogue by a ConfigMap: what is right counts at once, what is wrong is told of and no harm."""

from fractions import Fraction
from typing import Any

import pytest
import yaml
from hypothesis import given

from admission.jobs import READERS
from admission.model.accelerators import ACCELERATORS, CONFIG_MAP, CONFIG_MAP_KEY, MEMORY, CatalogueChanges
from admission.model.effects import EmitEvent
from admission.model.kinds import Ref
from admission.readers.catalogue import read_catalogue
from admission.resources.accelerators import accelerators
from admission.resources.catalogue import CATALOGUE
from tests.core.test_accelerators_in_state import Room
from tests.core.test_readers_garbage import garbage

GIB = 2**30
SYSTEM = "kueue-system"


def config_map(listed: Any) -> dict[str, Any]:
    said = listed if isinstance(listed, str) else yaml.safe_dump(listed)
    return {"metadata": {"name": CONFIG_MAP, "namespace": SYSTEM, "uid": "c"}, "data": {CONFIG_MAP_KEY: said}}


def read(listed: Any) -> CatalogueChanges:
    return read_catalogue(config_map(listed))


def test_a_new_vendor_counts_as_it_says() -> None:
    found = read(
        [
            {"name": "acme.example/wafer", "vendor": "Acme", "accelerators": 4, "memory": "80Gi"},
            {"name": "acme.example/die-*", "vendor": "Acme", "accelerators": "0.25"},
            {"name": "acme.example/share", "unit": "percent", "shareOf": "acme.example/wafer", "perDevice": True},
        ]
    )
    assert found.faults == ()
    catalogue = CATALOGUE.changed(found.changes)
    wafers = {"acme.example/wafer": Fraction(2), "acme.example/share": Fraction(50), "acme.example/die-7": Fraction(3)}
    assert accelerators(wafers, catalogue) == {ACCELERATORS: Fraction(19, 4), MEMORY: 80 * GIB}
    assert accelerators({"nvidia.com/gpu": Fraction(1)}, catalogue) == {ACCELERATORS: 1}


def test_of_a_name_that_is_known_only_what_is_stated_changes() -> None:
    catalogue = CATALOGUE.changed(read([{"name": "nvidia.com/gpu", "memory": "80Gi"}]).changes)
    before, after = CATALOGUE.get("nvidia.com/gpu"), catalogue.get("nvidia.com/gpu")
    assert before is not None
    assert after == before._replace(memory=80 * GIB)
    assert list(catalogue) == [after if one == before else one for one in CATALOGUE]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (
            "acme.example/wafer",
            "data[catalogue][0]: Invalid value: must be a map with a name, like {name: acme.example",
        ),
        ({"vendor": "Acme"}, "data[catalogue][0].name: Required value: the resource that pods ask for"),
        ({"name": "a b"}, 'data[catalogue][0].name: Invalid value: "a b": must be the name of a resource'),
        ({"name": 7}, "data[catalogue][0].name: Invalid value: 7: must be the name of a resource"),
        ({"name": "*"}, 'data[catalogue][0].name: Invalid value: "*": must be'),
        ({"name": ACCELERATORS}, "is what names are counted as; name a resource that nodes have"),
        (
            {"name": "a/b", "units": "device"},
            'data[catalogue][0]: Unsupported value: "units": supported values: "name"',
        ),
        (
            {"name": "a/b", "unit": "core"},
            'data[catalogue][0].unit: Unsupported value: "core": supported values: "device"',
        ),
        ({"name": "a/b", "unit": ["device"]}, "data[catalogue][0].unit: Unsupported value"),
        (
            {"name": "a/b", "accelerators": "many"},
            '.accelerators: Invalid value: "many": must be a quantity, like 0.25',
        ),
        ({"name": "a/b", "accelerators": -1}, ".accelerators: Invalid value: -1: must be greater than or equal to 0"),
        ({"name": "a/b", "memory": True}, ".memory: Invalid value: true: must be a quantity, like 80Gi"),
        ({"name": "a/b", "perDevice": "yes"}, '.perDevice: Invalid value: "yes": must be true or false'),
        ({"name": "a/b", "vendor": 3}, ".vendor: Invalid value: 3: must be a string"),
        ({"name": "a/b", "excludes": "c/d"}, '.excludes: Invalid value: "c/d": must be a list of names'),
        ({"name": "a/b", "needs": [3]}, ".needs[0]: Invalid value: 3: must be the name of a resource"),
    ],
)
def test_a_wrong_entry_is_told_of_and_the_rest_counts(entry: Any, told: str) -> None:
    found = read([entry, {"name": "acme.example/wafer"}])
    (fault,) = found.faults
    assert told in fault
    assert found.changes == (("acme.example/wafer", {}),)


@pytest.mark.parametrize("said", ["a: b", "{", "- [", "7", "&a {x: *a}", "\x00", "- " * 200, "[" * 600, "x" * 70000])
def test_what_is_no_list_changes_nothing_and_is_told_of(said: str) -> None:
    found = read(said)
    assert found.changes == ()
    assert len(found.faults) == 1
    assert "data[catalogue]: Invalid value" in found.faults[0] or "must be a map" in found.faults[0]


def test_a_value_that_holds_itself_is_told_of_without_it() -> None:
    (fault,) = read("- {name: a/b, excludes: [], vendor: &v [*v]}").faults
    assert fault == "data[catalogue][0].vendor: Invalid value: must be a string"


@pytest.mark.parametrize("said", ["", "  \n", "[]"])
def test_an_empty_list_is_no_fault(said: str) -> None:
    found = read(said)
    assert (found.changes, found.faults) == ((), ())


@given(garbage)
def test_garbage_never_raises_and_what_comes_of_it_can_be_reckoned_with(value: Any) -> None:
    for wire in ({"data": value}, {"data": {CONFIG_MAP_KEY: value}}, value if isinstance(value, dict) else {}):
        read_catalogue(wire)
    for listed in ([value], [{"name": "a/b", "memory": value}], [{"name": value}]):
        catalogue = CATALOGUE.changed(read(repr(listed)).changes)
        accelerators({"a/b": Fraction(1), "nvidia.com/gpu": Fraction(1)}, catalogue)


# --- in a cluster


class Desk(Room):
    """Quota for 8 accelerators, of wafers among others."""

    def __init__(self) -> None:
        super().__init__({"acme.example/wafer": "100", "nvidia.com/gpu": "100", ACCELERATORS: "8"})

    def add(self, listed: Any, name: str = CONFIG_MAP, namespace: str = SYSTEM) -> list[EmitEvent]:
        self.tell("ConfigMap", name, namespace, data={CONFIG_MAP_KEY: yaml.safe_dump(listed)})
        effects = [planned.effect for planned in self.state.plan(self.now).effects]
        return [effect for effect in effects if isinstance(effect, EmitEvent) and effect.reason == "BadEntry"]


WAFERS = [{"name": "acme.example/wafer", "accelerators": 4}]


def test_who_waits_is_counted_by_the_catalogue_as_it_is() -> None:
    desk = Desk()
    desk.add(WAFERS)
    desk.submit("a", {"acme.example/wafer": "1"})
    desk.settle()
    assert desk.usage()[ACCELERATORS] == 4000
    desk.submit("b", {"acme.example/wafer": "3"})
    desk.settle()
    assert not desk.holds("b")
    desk.add([{"name": "acme.example/wafer", "accelerators": 1}])
    desk.settle()
    assert desk.usage()[ACCELERATORS] == 7000


def test_what_holds_quota_keeps_what_it_was_charged() -> None:
    desk = Desk()
    desk.submit("a", {"acme.example/wafer": "1"})
    desk.settle()
    assert desk.usage() == {"acme.example/wafer": 1}, "nobody knows it yet"
    desk.add(WAFERS)
    desk.settle()
    assert desk.usage() == {"acme.example/wafer": 1}


def test_without_its_config_map_the_catalogue_is_the_one_that_is_built_in() -> None:
    desk = Desk()
    desk.add([{"name": "nvidia.com/gpu", "accelerators": 9}])
    desk.submit("a", {"nvidia.com/gpu": "1"})
    desk.settle()
    assert not desk.holds("a")
    desk.state.gone(Ref("ConfigMap", SYSTEM, CONFIG_MAP))
    desk.settle()
    assert desk.holds("a")


def test_config_maps_of_other_names_and_namespaces_say_nothing() -> None:
    desk = Desk()
    assert desk.add([{"name": "nvidia.com/gpu", "accelerators": 9}, 7], name="other") == []
    assert desk.add([{"name": "nvidia.com/gpu", "accelerators": 9}, 7], namespace="lab") == []
    desk.submit("a", {"nvidia.com/gpu": "1"})
    desk.settle()
    assert desk.usage()[ACCELERATORS] == 1000


def test_a_wrong_entry_is_told_of_at_the_config_map() -> None:
    desk = Desk()
    (event,) = desk.add([{"name": "acme.example/wafer", "memory": "much"}])
    assert event.ref == Ref("ConfigMap", SYSTEM, CONFIG_MAP)
    assert event.type == "Warning"
    assert 'data[catalogue][0].memory: Invalid value: "much": must be a quantity, like 80Gi' in event.message


def test_a_config_map_is_read_as_every_kind_is() -> None:
    assert READERS["ConfigMap"](config_map(WAFERS)) == read(WAFERS)
