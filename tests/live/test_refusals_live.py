"""The table of refusals against our CRDs and webhooks on a real API server, which agree with what we say in memory."""

import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from admission.api.crd import definitions
from hack.cluster import Cluster
from tests.live.refusing import Server
from tests.live.webhook_process import webhooks
from tests.refusals import OWN_ROWS, ROWS, Row, Write
from tests.refusals.cluster_queue import QUOTA
from tests.refusals.damage import damaged
from tests.refusals.memory import refusal
from tests.refusals.objects import QUEUE, WORKLOAD
from tests.refusals.row import put
from tests.refusals.workload import FIRST

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

AMOUNT = f"{QUOTA}.nominalQuota"
GOOD = [
    row.accepted
    for row in (*ROWS, *OWN_ROWS)
    if (row.accepted.old is None or row.accepted.status)
    and not row.accepted.legacy
    and row.accepted.new["kind"] != "Job"  # its template is the API server's own business
]
LIST_FOR_TIME = 'must be of type string: "array"'  # an API server takes a list where it wants a date-time
NEGATIVE = put(QUEUE, {AMOUNT: "-1"})
CREDIT = put(WORKLOAD, {f"{FIRST}.template.spec.containers[0].resources.requests": {"cpu": "-1"}})
FROM_OF_OLD = [
    Row(
        f"a {wrong['kind']} that was wrong before: {what}",
        Write(put(wrong, {at: value}), wrong, status=at.startswith("status"), legacy=True),
        Write(put(wrong, {field: other}), wrong, legacy=True),
        path,
        "must be greater than or equal to 0",
        "webhook",
    )
    for wrong, field, other, path in (
        (NEGATIVE, "spec.stopPolicy", "Hold", AMOUNT),
        (CREDIT, "spec.active", False, f"{FIRST}.template.spec.containers[0].resources.requests[cpu]"),
    )
    for what, at, value in (
        ("labels", "metadata.labels", {"team": "a"}),
        ("finalizers", "metadata.finalizers", ["example.com/hold"]),
        ("status", "status.conditions", []),
    )
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Cluster.start() as cluster:
        api = cluster.api()
        for definition in definitions():
            api.apply(definition)
        cluster.until(lambda: all(api.answers(_collection(made)) for made in definitions()), "our kinds to be served")
        with closing(Server(api)) as asked:
            asked.store_legacy([*ROWS, *OWN_ROWS, *FROM_OF_OLD])
            with webhooks(cluster, tmp_path_factory.mktemp("webhooks") / "log"):
                yield asked


def _collection(definition: dict[str, object]) -> str:
    spec: dict[str, Any] = definition["spec"]  # type: ignore[assignment]
    return f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"


@pytest.mark.parametrize("row", [*ROWS, *OWN_ROWS], ids=str)
def test_the_server_accepts_what_keeps_the_rule(server: Server, row: Row) -> None:
    assert server.answer(row, row.accepted) is None


@pytest.mark.parametrize("row", [*ROWS, *OWN_ROWS], ids=str)
def test_the_server_refuses_what_breaks_it_for_nothing_else(server: Server, row: Row) -> None:
    refusal = server.answer(row, row.refused)
    assert refusal is not None
    assert refusal.by == row.by, refusal
    assert refusal.tells(row), refusal


def agrees(server: Server, seed: int, times: int) -> None:
    """Damaged manifests are accepted or refused by the server as in memory."""
    chance = random.Random(seed)
    for number in range(times):
        write = damaged(chance, chance.choice(GOOD))
        by, said = refusal(write)
        if LIST_FOR_TIME in str(said):
            continue
        refused = server.ask(write, f"damaged-{seed}-{number}")
        assert (refused is None) == (by == ""), (write, said, refused)


def test_in_memory_damaged_manifests_are_judged_as_by_the_server(server: Server) -> None:
    agrees(server, 5, 200)


@pytest.mark.long
def test_in_memory_thousands_of_damaged_manifests_are_judged_as_by_the_server(server: Server) -> None:
    agrees(server, 6, 3000)


@pytest.mark.parametrize("row", FROM_OF_OLD, ids=str)
def test_what_was_wrong_before_is_only_judged_when_its_spec_is_touched(server: Server, row: Row) -> None:
    assert server.answer(row, row.accepted) is None
    refusal = server.answer(row, row.refused)
    assert refusal is not None
    assert refusal.tells(row), refusal
