"""The table of refusals put to the real Kueue: it accepts and refuses alike, in the same words but for a few noted."""

import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from admission.model.kinds import KINDS
from hack.cluster import Cluster
from tests.live.refusing import Refusal, Server
from tests.peer.frozen_kueue import frozen_kueue, unvalidated
from tests.refusals import ROWS, Row, Write
from tests.refusals.damage import damaged
from tests.refusals.memory import refusal

pytestmark = pytest.mark.timeout(3600)  # the first run on a machine builds Kubernetes and Kueue

GOOD = [
    row.accepted
    for row in ROWS
    if (row.accepted.old is None or row.accepted.status)
    and not row.accepted.legacy
    and row.accepted.new["kind"] != "Job"  # its template is the API server's own business
]
LIST_FOR_TIME = 'must be of type string: "array"'  # an API server takes a list where it wants a date-time
BEYOND_32_BITS = "should be less than or equal to 2147483647"  # which Kueue's schema leaves to its webhooks
# Kueue's mutating webhooks write these down in another way before the schema is asked.
REWRITTEN = ("Required value", "in body must be of type")
MUTATED = ("ClusterQueue", "ResourceFlavor", "Workload")
MOST_DIFFERENCES = 24  # each is told in docs/differences-from-kueue.md
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


def agrees(server: Server, seed: int, times: int) -> None:
    """Damaged manifests are accepted or refused as by us, but for what the docs say."""
    chance = random.Random(seed)
    for number in range(times):
        write = damaged(chance, chance.choice(GOOD))
        by, said = refusal(write)
        refused = server.ask(write, f"damaged-{seed}-{number}")
        if (refused is None) != (by == ""):
            assert _is_known(write, said, refused), (write, said, refused)


def _is_known(write: Write, said: list[str], refused: Refusal | None) -> bool:
    if refused is not None:
        return ".template." in str(refused.complaints)
    created = write.old is None and write.new["kind"] in MUTATED
    return any(words in said[0] for words in (LIST_FOR_TIME, BEYOND_32_BITS, *(REWRITTEN if created else ())))


def test_damaged_manifests_are_judged_alike(server: Server) -> None:
    agrees(server, 7, 200)


@pytest.mark.long
def test_thousands_of_damaged_manifests_are_judged_alike(server: Server) -> None:
    agrees(server, 8, 3000)


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
