"""What the documentation shows is what happens."""

import re
from pathlib import Path

import pytest
import yaml

from admission.configuration.integrations import LACKING
from admission.world.scenario.case import read_case
from admission.world.scenario.report import FileResult, text
from admission.world.scenario.runner import run_case
from controller.kube.configuration import read_settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def example(page: str) -> str:
    """The only block of YAML of a page."""
    (block,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)
    return str(block)


def test_the_scenario_that_is_shown_holds() -> None:
    result = run_case(read_case(example("scenarios.md")))
    assert result.outcome == "passed", "\n".join(text([FileResult("scenarios.md", result)]))


def test_the_configuration_that_is_shown_is_the_default_written_out(tmp_path: Path) -> None:
    shown, empty = tmp_path / "shown.yaml", tmp_path / "empty.yaml"
    shown.write_text(example("install.md"), encoding="utf-8")
    empty.write_text(
        yaml.safe_dump({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}), encoding="utf-8"
    )
    assert read_settings(shown) == read_settings(empty)


def test_the_frameworks_that_are_lacking_are_named_to_who_comes_from_kueue() -> None:
    text = (ROOT / "docs" / "coming-from-kueue.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| `integrations.frameworks` |")]
    assert sorted(re.findall(r"`([^`]+)`", row)[1:]) == sorted(LACKING)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing
