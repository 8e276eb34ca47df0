"""ConversionReviews over TLS: many objects, both ways, and what cannot be converted named."""

import asyncio
import json
from typing import Any

import pytest

from tests.core.crd_cases import VALID, of
from tests.webhooks.serving import ApiServer, webhook_server
from webhooks import conversion

OLD, NEW = "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"
REVIEW = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
QUEUE = of("ClusterQueue", apiVersion=OLD, spec={"cohort": "team"})


async def ask(api: ApiServer, wanted: str, *objects: Any) -> dict[str, Any]:
    """The response inside the review."""
    request = {"uid": "u-1", "desiredAPIVersion": wanted, "objects": list(objects)}
    status, body = await api.post("/convert", json.dumps({**REVIEW, "request": request}).encode())
    assert status == 200, body
    review = json.loads(body)
    assert {key: review[key] for key in REVIEW} == REVIEW
    assert review["response"]["uid"] == "u-1"
    response: dict[str, Any] = review["response"]
    return response


async def test_objects_come_back_in_order_in_the_version_asked_for() -> None:
    async with webhook_server() as api:
        response = await ask(api, NEW, QUEUE, VALID["Workload"], {**VALID["LocalQueue"], "apiVersion": OLD})
        assert response["result"] == {"status": "Success"}
        assert [each["kind"] for each in response["convertedObjects"]] == ["ClusterQueue", "Workload", "LocalQueue"]
        assert {each["apiVersion"] for each in response["convertedObjects"]} == {NEW}
        assert response["convertedObjects"][0]["spec"] == {"cohortName": "team"}
        back = await ask(api, OLD, *response["convertedObjects"])
        assert back["convertedObjects"][0] == QUEUE


async def test_metadata_stays_as_it_was() -> None:
    metadata = {"name": "a", "uid": "1", "labels": {"a": "b"}, "managedFields": [{"apiVersion": OLD}], "new": [None]}
    async with webhook_server() as api:
        response = await ask(api, NEW, {**QUEUE, "metadata": metadata})
        assert response["convertedObjects"][0]["metadata"] == metadata


async def test_no_objects_are_no_failure() -> None:
    async with webhook_server() as api:
        assert await ask(api, NEW) == {"uid": "u-1", "convertedObjects": [], "result": {"status": "Success"}}


@pytest.mark.parametrize(
    ("wanted", "wrong", "said"),
    [
        (OLD, of("Workload", spec=7), "Workload/default/a can't be converted to v1beta1: spec: 7 is not an object"),
        ("kueue.x-k8s.io/v9", QUEUE, "ClusterQueue/a can't be converted to v9: version 'v9' is unknown"),
        ("batch/v1", QUEUE, "desiredAPIVersion 'batch/v1' is not of kueue.x-k8s.io"),
        (OLD, [], "objects[1] can't be converted to v1beta1: it is not an object"),
        (OLD, {"kind": "Pod"}, "objects[1] can't be converted to v1beta1: kind: 'Pod' is not a kind of"),
        (OLD, {"metadata": 3}, "objects[1] can't be converted to v1beta1: kind: None is not a kind of"),
    ],
)
async def test_one_object_that_cannot_be_converted_fails_the_review_and_is_named(
    wanted: str, wrong: Any, said: str
) -> None:
    async with webhook_server() as api:
        response = await ask(api, wanted, VALID["Cohort"] if wanted == OLD else wrong, wrong)
    assert response["convertedObjects"] == []
    assert response["result"]["status"] == "Failed"
    assert said in response["result"]["message"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"no json", "is not a ConversionReview"),
        (b"{}", "is not a ConversionReview"),
        (b"[" * 100_000, "is not a ConversionReview"),
        (
            b'{"apiVersion": "v1", "kind": "Pod", "request": {"uid": "1", "desiredAPIVersion": ""}}',
            "the body is a v1 Pod",
        ),
        (json.dumps({**REVIEW, "request": {"uid": 7}}).encode(), "uid"),
    ],
)
async def test_what_is_no_review_is_a_bad_request(body: bytes, said: str) -> None:
    async with webhook_server() as api:
        status, text = await api.post("/convert", body)
    assert (status, said in text.decode()) == (400, True)


async def test_a_deeply_nested_object_is_told() -> None:
    async with webhook_server() as api:
        deep = '{"a":' * 50_000 + "1" + "}" * 50_000
        review = json.dumps({**REVIEW, "request": {"uid": "1", "desiredAPIVersion": OLD, "objects": ["HERE"]}})
        status, text = await api.post("/convert", review.replace('"HERE"', deep).encode())
    assert status in (200, 400)
    assert b"Success" not in text


async def test_only_json_is_read() -> None:
    async with webhook_server() as api:
        status, _ = await api.post("/convert", b"{}", {"Content-Type": "text/plain"})
    assert status == 415


async def test_other_reviews_are_answered_while_a_large_list_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "TURN_SECONDS", 0.0)
    convert_one, order = conversion._one, []

    def told(*arguments: Any) -> Any:
        order.append("object")
        return convert_one(*arguments)

    monkeypatch.setattr(conversion, "_one", told)
    async with webhook_server() as api:
        large = asyncio.create_task(ask(api, NEW, *[{**VALID["Workload"], "apiVersion": OLD}] * 2_000))
        while not large.done():
            await api.review("/mutate-batch-v1-job", {"metadata": {}, "spec": {}})
            order.append("review")
        await large
    last = len(order) - 1 - order[::-1].index("object")
    assert "review" in order[order.index("object") : last]


async def test_however_many_large_lists_come_at_once_their_bodies_fit_the_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each takes more than half of the room, so that one is read after the other; small ones pass beside them."""
    review = json.dumps(
        {**REVIEW, "request": {"uid": "u-1", "desiredAPIVersion": NEW, "objects": [QUEUE] * 50}}
    ).encode()
    monkeypatch.setattr(conversion, "ROOM", len(review) * 3 // 2)
    monkeypatch.setattr(conversion, "SMALL_BODY", len(review) - 1)
    monkeypatch.setattr(conversion, "TURN_SECONDS", 0.0)
    converted, inside, most = conversion._converted, 0, 0

    async def counted(asked: Any) -> Any:
        nonlocal inside, most
        inside += len(asked.objects) == 50
        most = max(most, inside)
        try:
            return await converted(asked)
        finally:
            inside -= len(asked.objects) == 50

    monkeypatch.setattr(conversion, "_converted", counted)
    async with webhook_server() as api:
        large = [asyncio.create_task(api.post("/convert", review)) for _ in range(5)]
        assert (await ask(api, NEW, QUEUE))["result"] == {"status": "Success"}
        assert [status for status, _ in await asyncio.gather(*large)] == [200] * 5
    assert most == 1


async def test_one_that_finds_no_room_in_time_is_told_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "SMALL_ROOM", 1)
    async with webhook_server() as api:
        began, leave = asyncio.Event(), asyncio.Event()

        async def stuck(asked: Any) -> Any:
            began.set()
            await leave.wait()
            return []

        monkeypatch.setattr(conversion, "_converted", stuck)
        monkeypatch.setattr(conversion, "SECONDS", 30.0)
        first = asyncio.create_task(ask(api, NEW, QUEUE))
        await began.wait()
        monkeypatch.setattr(conversion, "SECONDS", 0.05)
        status, text = await api.post("/convert", b"{}")
        leave.set()
        await first
    assert status == 503
    assert b"no room for 2 bytes within 0.05 s; try again" in text


async def test_a_body_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "LARGEST_BODY", 100)
    async with webhook_server() as api:
        status, _ = await api.post("/convert", b" " * 101)
    assert status == 413
