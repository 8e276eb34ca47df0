"""What a product of the run's own is told and asked, without one: its turns, its requests, its rights."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from admission.model.configuration import DEFAULTS
from admission.model.kinds import Ref
from admission.reconcile.requests import Request
from admission.world.scenario.case import read_case
from admission.world.scenario.runner import Result
from controller.cli.live.needs import disturbs, lacking_live
from controller.cli.live.product import _without
from controller.cli.live.requests import Asked, Requests
from controller.cli.live.turns import turns
from controller.kit import logs
from controller.kube.client import Client
from controller.kube.writer import Writer
from tests.shell.apiserver import ApiServer, status
from tests.shell.conftest import JOBS

ROOT = Path(__file__).parents[2]
CASES = {file.stem[:3]: read_case(file.read_text()) for file in (ROOT / "tests" / "scenarios").glob("*.yaml")}


def test_cases_with_one_configuration_share_a_product_and_those_that_disturb_come_last(tmp_path: Path) -> None:
    names = ["065", "001", "025", "026", "027", "066", "004"]
    found = turns([Result(CASES[name]) for name in names], DEFAULTS, ["--feature-gates=A=true"])
    ids = [([one.case.id for one in turn.harmless], [one.case.id for one in turn.disturbing]) for turn in found]
    assert ids == [(["C001"], ["C065", "C066"]), (["C025", "C027"], ["C026"]), (["C004"], [])]
    assert found[0].flags(tmp_path) == ["--feature-gates=A=true"]
    (flag,) = found[1].flags(tmp_path)
    told = json.loads(Path(flag.removeprefix("--config=")).read_text())
    assert told["fairSharing"] == {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}


def test_what_disturbs_needs_a_product_of_the_runs_own() -> None:
    assert [name for name in sorted(CASES) if disturbs(CASES[name].form)] == ["026", "036", "044", "063", "065", "066"]
    for name in ("026", "044", "063", "065", "066"):
        assert any("add --own-product" in missing for missing in lacking_live(CASES[name].form))
        assert lacking_live(CASES[name].form, own=True) == []


def test_rights_to_read_are_taken_and_those_to_write_stay() -> None:
    rule: dict[str, Any] = {"apiGroups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": ["get", "patch"]}
    assert list(_without(rule, {"cronjobs"})) == [
        {**rule, "resources": ["jobs"]},
        {**rule, "resources": ["cronjobs"], "verbs": ["patch"]},
    ]
    assert list(_without(rule, {"pods"})) == [rule]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """What the writer logs at debug level, as the process would."""
    file = tmp_path / "controller.log"
    handler = logging.FileHandler(file)
    handler.setFormatter(logs.JsonLines())
    logger = logging.getLogger("kube.writer")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield file
    logger.setLevel(logging.NOTSET)
    logger.removeHandler(handler)
    handler.close()


async def test_requests_are_read_from_the_log_refused_ones_and_unanswered_ones_too(
    server: ApiServer, client: Client, log: Path
) -> None:
    asked: list[Asked] = []
    requests = Requests(asked.append)
    requests.follow(log)
    await server.put(f"{JOBS}/a", spec={"suspend": False})
    write = Request("patch", Ref("Job", "ns", "a"), {"spec": {"suspend": True}})
    await Writer(client).write(write)
    requests.look()
    server.faults.append(web.json_response(status(409, "Conflict"), status=409))
    await Writer(client).write(write)
    server.lose_replies = True
    await Writer(client).write(write)
    requests.look()
    requests.look()
    assert [(one.ref, one.verb, one.code, one.body) for one in asked] == [
        (write.ref, "patch", code, write.body) for code in (200, 409, 0)
    ]
    assert asked[0].real <= asked[1].real <= asked[2].real


def test_a_line_that_is_half_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "log"
    line = json.dumps(
        {
            "time": "2026-01-02T15:04:05.250Z",
            "message": "a write was answered",
            "verb": "delete",
            "object": "Workload/lab/w",
            "subresource": None,
            "code": 404,
            "body": {},
        }
    )
    asked: list[Asked] = []
    requests = Requests(asked.append)
    log.write_text("not ours\n" + line[:40])
    requests.follow(log)
    requests.look()
    assert asked == []
    log.write_text("not ours\n" + line + "\n")
    requests.look()
    assert asked == [Asked(1767366245.25, Ref("Workload", "lab", "w"), "delete", None, 404, {})]
