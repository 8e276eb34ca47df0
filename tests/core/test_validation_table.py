"""The table of refusals against our models and checks: what the API server and the webhooks would say, in memory."""

from collections import Counter

import pytest

from admission.api.crd import OWN, SERVED
from admission.api.defaults import with_defaults
from tests.refusals import JOB_ROWS, OWN_JOB_ROWS, OWN_ROWS, ROWS, Row
from tests.refusals.memory import refusal

EVERY_ROW = (*ROWS, *OWN_ROWS, *JOB_ROWS, *OWN_JOB_ROWS)
FEWEST = 250  # a table that shrinks has lost rules


def test_there_is_a_row_for_every_rule() -> None:
    assert len(ROWS) >= FEWEST
    assert not [rule for rule, times in Counter(map(str, EVERY_ROW)).items() if times > 1]
    assert {row.refused.new["kind"] for row in ROWS} == {*SERVED, "Job"}
    assert {row.refused.new["kind"] for row in OWN_ROWS} == {*OWN}


@pytest.mark.parametrize("row", EVERY_ROW, ids=str)
def test_what_keeps_the_rule_is_accepted(row: Row) -> None:
    assert refusal(row.accepted) == ("", [])
    kind = row.accepted.new["kind"]
    models = {**SERVED, **OWN}
    if kind in models:
        models[kind].model.model_validate(with_defaults(kind, row.accepted.new))


@pytest.mark.parametrize("row", EVERY_ROW, ids=str)
def test_what_breaks_it_is_refused_for_nothing_else(row: Row) -> None:
    by, said = refusal(row.refused)
    assert by == row.by, said
    assert all(each.startswith(f"{row.path}: ") for each in said), said
    assert any(row.words in each for each in said), said
