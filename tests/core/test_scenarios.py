"""Every scenario in tests/scenarios holds, and would not hold if its expectations were others."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from admission.world.scenario.case import Case, read_case
from admission.world.scenario.needs import lacking
from admission.world.scenario.report import FileResult, text
from admission.world.scenario.runner import run_case

FOLDER = Path(__file__).parents[1] / "scenarios"


@cache
def read(file: Path) -> Case:
    return read_case(file.read_text(encoding="utf-8"))


# The rest need a real API server (tests/live/test_scenarios_own_product.py).
FILES = [file for file in sorted(FOLDER.glob("*.yaml")) if "live-only" not in lacking(read(file).form)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_scenario(file: Path) -> None:
    result = run_case(read(file))
    assert result.outcome == "passed", "\n" + "\n".join(text([FileResult(file.name, result)]))


def _other(key: str, value: Any) -> Any:
    """A value that cannot be true where `value` is."""
    match key:
        case "state":
            return "finished" if value != "finished" else "pending"
        case "allowed" | "equals" if isinstance(value, bool):
            return not value
        case "equals" | "min" if isinstance(value, int):
            return value + 1
        case "status":
            return "False" if value == "True" else "True"
        case "started":
            return not value
        case "minMember":
            return value + 1
        case "allocated":
            return dict.fromkeys(value, "12345")
        case "fairShare":
            return {**value, "queues": dict.fromkeys(value["queues"], "12345")}
        case "admittedBy" | "reason" | "messageContains" | "errorContains":
            return "somethingElse"
    return None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_expectation_holds_whatever_happens(file: Path) -> None:
    case = read(file)
    turned = []
    for index, expectation in enumerate(case.form.expect):
        for key in expectation.model_fields_set:
            other = _other(key, getattr(expectation, key))
            if other is not None:
                # A refusal expected of what is allowed would be noticed twice; the other keys go with it.
                changed = expectation.model_copy(update={key: other})
                turned.append((index, changed))
                break
    expect = list(case.form.expect)
    for index, changed in turned:
        expect[index] = changed
    result = run_case(Case(case.form.model_copy(update={"expect": expect}), case.source))
    noticed = {failure.index for failure in result.failures if failure.section == "expect"}
    assert {index for index, _ in turned} <= noticed
    assert turned
