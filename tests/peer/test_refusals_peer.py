"""The table of refusals put to the real Kueue: it accepts and refuses alike, in the same words but for a few noted."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from admission.model.kinds import KINDS
from hack.cluster import Cluster
from tests.live.refusing import Server
from tests.peer.frozen_kueue import frozen_kueue, unvalidated
from tests.refusals import ROWS, Row

pytestmark = pytest.mark.timeout(3600)  # the first run on a machine builds Kubernetes and Kueue

MOST_DIFFERENCES = 30  # each is told in docs/differences-from-kueue.md
MOST_ACCEPTED = 3  # of them, what Kueue accepts and we refuse


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Cluster.start() as cluster, frozen_kueue(cluster):
        api = cluster.api()
        wrong = next(row.refused.old for row in ROWS if row.refused.legacy)
        assert wrong is not None
        with closing(Server(api)) as asked:
            with unvalidated(api, wrong, KINDS[wrong["kind"]].path()):
                asked.store_legacy(ROWS)
            yield asked


def test_differences_are_few() -> None:
    noted = [row.kueue.partition(":")[0] for row in ROWS if row.kueue]
    assert set(noted) <= {"accepts", "words"}
    assert len(noted) <= MOST_DIFFERENCES
    assert noted.count("accepts") <= MOST_ACCEPTED


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_kueue_accepts_what_keeps_the_rule(server: Server, row: Row) -> None:
    assert server.answer(row, row.accepted) is None


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_kueue_refuses_what_breaks_it(server: Server, row: Row) -> None:
    refusal = server.answer(row, row.refused)
    assert (refusal is None) == row.kueue.startswith("accepts"), refusal
    if refusal is not None:
        as_we_do = refusal.by == row.by and refusal.tells(row)
        assert as_we_do == (not row.kueue), refusal
