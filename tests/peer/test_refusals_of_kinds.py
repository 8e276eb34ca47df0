"""The table of refusals of the kinds that operators bring, put to the real Kueue: it accepts and refuses alike."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from admission.configuration.integrations import FRAMEWORKS
from hack.cluster import Cluster
from hack.job_crds import install_job_crds
from tests.live.refusing import Server
from tests.peer.frozen_kueue import frozen_kueue
from tests.refusals import JOB_ROWS, Row

pytestmark = pytest.mark.timeout(3600)  # the first run on a machine builds Kubernetes and Kueue

KINDS = list(dict.fromkeys(row.refused.new["kind"] for row in JOB_ROWS))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    frameworks = [name for name, kind in FRAMEWORKS.items() if kind in KINDS]
    with Cluster.start() as cluster:
        install_job_crds(cluster, KINDS)
        settings = {
            "integrations": {"frameworks": frameworks},
            "featureGates": {"SparkApplicationIntegration": True, "VisibilityOnDemand": False},
        }
        with frozen_kueue(cluster, **settings), closing(Server(cluster.api())) as asked:
            yield asked


@pytest.mark.parametrize("row", JOB_ROWS, ids=str)
def test_kueue_accepts_what_keeps_the_rule(server: Server, row: Row) -> None:
    assert server.answer(row, row.accepted) is None


@pytest.mark.parametrize("row", JOB_ROWS, ids=str)
def test_kueue_refuses_what_breaks_it(server: Server, row: Row) -> None:
    refusal = server.answer(row, row.refused)
    assert (refusal is None) == row.kueue.startswith("accepts"), refusal
    if refusal is not None:
        as_we_do = refusal.by == row.by and refusal.tells(row)
        assert as_we_do == (not row.kueue), refusal
