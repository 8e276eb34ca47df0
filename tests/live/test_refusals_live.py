"""The table of refusals against our CRDs and webhooks on a real API server, which agree with what we say in memory."""

from collections.abc import Iterator

import pytest

from admission.api.crd import definitions
from hack.cluster import Cluster
from tests.live.refusing import Server
from tests.live.webhook_process import webhooks
from tests.refusals import ROWS, Row

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Cluster.start() as cluster:
        api = cluster.api()
        for definition in definitions():
            api.apply(definition)
        cluster.until(lambda: all(api.answers(_collection(made)) for made in definitions()), "our kinds to be served")
        asked = Server(api)
        asked.store_legacy(ROWS)
        with webhooks(cluster, tmp_path_factory.mktemp("webhooks") / "log"):
            yield asked


def _collection(definition: dict[str, object]) -> str:
    spec: dict[str, dict[str, str]] = definition["spec"]  # type: ignore[assignment]
    return f"/apis/kueue.x-k8s.io/v1beta2/{spec['names']['plural']}"


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_server_accepts_what_keeps_the_rule(server: Server, row: Row) -> None:
    assert server.answer(row, row.accepted) is None


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_server_refuses_what_breaks_it_for_nothing_else(server: Server, row: Row) -> None:
    refusal = server.answer(row, row.refused)
    assert refusal is not None
    assert refusal.by == row.by, refusal
    assert refusal.tells(row), refusal
