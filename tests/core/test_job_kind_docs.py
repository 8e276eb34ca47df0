"""The pages on JobKind show what is in the examples, and leave out no field."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from admission.api.crd import definition, schema_of
from admission.readers.job_kind import read_rules

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "add-a-job-kind.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "job-kind.md").read_text(encoding="utf-8")
RENDER = ROOT / "examples" / "render"


def test_the_tutorial_shows_the_files_that_it_speaks_of() -> None:
    (shown,) = re.findall(r"```yaml\n(.*?)```", TUTORIAL, re.DOTALL)
    assert shown == (RENDER / "job-kind.yaml").read_text()
    assert (RENDER / "rights.yaml").read_text() in TUTORIAL


def test_the_reference_has_every_field() -> None:
    fields = set(_fields(schema_of("JobKind")["properties"]["spec"]))
    assert len(fields) > 30
    assert not [name for name in fields if not re.search(rf"`[^`]*\b{name}\b[^`]*`", REFERENCE)]
    assert definition("JobKind")["spec"]["names"]["shortNames"] == ["jk"]


def test_the_tests_that_the_reference_shows_are_tests() -> None:
    shown = re.findall(r"^\| `(\{(?:condition|path).*?\})` \|", REFERENCE, re.MULTILINE)
    assert len(shown) == 6
    spec = yaml.safe_load((RENDER / "job-kind.yaml").read_text())["spec"]
    for test in shown:
        assert read_rules({"spec": {**spec, "active": yaml.safe_load(test)}})[1] == []


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    for name, field in schema.get("properties", {}).items():
        yield name
        yield from _fields(field)
    yield from _fields(schema.get("items", {})) if "items" in schema else ()
