"""Reviews over real TLS: what the API server sends is answered, and whatever else comes is refused and survived."""

import base64
import json
import random
from copy import deepcopy
from typing import Any

import pytest

from admission.answers import HOOKS
from tests.webhooks.serving import JSON, StandingView, envelope, webhook_server

MUTATE, VALIDATE = "/mutate-batch-v1-job", "/validate-batch-v1-job"
JOB = {"metadata": {"name": "a", "labels": {"kueue.x-k8s.io/queue-name": "q"}}, "spec": {"parallelism": 1}}


async def test_a_job_that_names_a_queue_is_held_by_a_patch_that_only_adds() -> None:
    async with webhook_server() as api:
        response = await api.review(MUTATE, JOB)
    patch = json.loads(base64.b64decode(response["patch"]))
    assert response["uid"] == "u-1"
    assert response["patchType"] == "JSONPatch"
    assert patch == [{"op": "add", "path": "/spec/suspend", "value": True}]


async def test_an_allowed_review_carries_nothing_else() -> None:
    async with webhook_server() as api:
        assert await api.review(VALIDATE, JOB) == {"uid": "u-1", "allowed": True}


async def test_a_refusal_says_which_field_is_wrong() -> None:
    job = {"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": "-5"}}}
    async with webhook_server() as api:
        response = await api.review(VALIDATE, job)
    message = "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: -5: should be greater than 0"
    status = {"code": 403, "message": message, "reason": "Forbidden", "status": "Failure"}
    assert response == {"uid": "u-1", "allowed": False, "status": status}


async def test_a_field_of_the_wrong_type_is_refused_by_name() -> None:
    async with webhook_server() as api:
        response = await api.review(VALIDATE, {"spec": {"parallelism": "three"}})
    assert response["status"]["code"] == 400
    assert response["status"]["message"].startswith("spec.parallelism: Invalid value")


async def test_deletions_pass() -> None:
    async with webhook_server() as api:
        response = await api.review(VALIDATE, None, operation="DELETE", old=JOB)
    assert response == {"uid": "u-1", "allowed": True}


class FaultyView(StandingView):
    def namespace_labels(self, namespace: str) -> Any:
        raise ZeroDivisionError


async def test_a_fault_of_our_own_is_a_refusal_that_says_so_and_never_a_500() -> None:
    async with webhook_server(FaultyView()) as api:
        response = await api.review(MUTATE, JOB)
    assert (response["allowed"], response["status"]["code"]) == (False, 500)


V1BETA1 = envelope(JOB).replace(b"admission.k8s.io/v1", b"admission.k8s.io/v1beta1")
HUGE = b'{"apiVersion": "' + b"x" * 9 * 2**20 + b'"}'
DEEP = envelope(JOB).replace(b'"parallelism": 1', b'"x": ' + b"[" * 200_000 + b"]" * 200_000)


@pytest.mark.parametrize(
    ("body", "headers", "statuses"),
    [
        pytest.param(b"", JSON, {400}, id="empty"),
        pytest.param(b"{", JSON, {400}, id="truncated"),
        pytest.param(b"\xff\xfe\x00", JSON, {400}, id="binary"),
        pytest.param(b"[]", JSON, {400}, id="an array"),
        pytest.param(b"{}", JSON, {400}, id="an empty object"),
        pytest.param(V1BETA1, JSON, {400}, id="an unknown version"),
        pytest.param(envelope(JOB, operation="PATCH"), JSON, {400}, id="an unknown operation"),
        pytest.param(envelope(JOB).replace(b"u-1", b""), JSON, {400}, id="no uid"),
        pytest.param(envelope(JOB), {"Content-Type": "text/yaml"}, {415}, id="the wrong content type"),
        pytest.param(envelope(JOB), {**JSON, "Content-Encoding": "gzip"}, {400}, id="not packed as it says"),
        pytest.param(HUGE, JSON, {413}, id="nine megabytes"),
        pytest.param(DEEP, JSON, {200, 400}, id="two hundred thousand levels"),
        pytest.param(b"[" * 1_000_000, JSON, {400}, id="a million brackets"),
    ],
)
async def test_what_is_no_review_gets_a_4xx(body: bytes, headers: dict[str, str], statuses: set[int]) -> None:
    async with webhook_server() as api:
        status, _ = await api.post(MUTATE, body, headers)
        assert status in statuses
        assert await api.review(VALIDATE, JOB) == {"uid": "u-1", "allowed": True}


async def test_only_posts_to_known_paths_are_served() -> None:
    async with webhook_server() as api:
        assert (await api.post("/mutate-nothing", envelope(JOB)))[0] == 404
        async with api.session.get(api.base + MUTATE) as answer:
            assert answer.status == 405


async def test_a_thousand_mutilated_reviews_each_get_an_answer_or_a_4xx() -> None:
    await _bombard(1_000, seed=7)


@pytest.mark.long
async def test_fifty_thousand_mutilated_reviews_each_get_an_answer_or_a_4xx() -> None:
    await _bombard(50_000, seed=11)


async def _bombard(times: int, seed: int) -> None:
    chance = random.Random(seed)
    async with webhook_server() as api:
        for _ in range(times):
            path = chance.choice(HOOKS).path
            status, body = await api.post(path, mutilated(chance))
            assert status == 200 or 400 <= status < 500
            if status == 200:
                response = json.loads(body)["response"]
                assert response["uid"]
                assert response["allowed"] in (True, False)
                assert response["allowed"] or response["status"]["code"] != 500, response
        assert await api.review(VALIDATE, JOB) == {"uid": "u-1", "allowed": True}


JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**70,
    1e308,
    "",
    "x" * 300,
    "é\x00",
    [],
    {},
    [None],
    {"": None},
    [[{}]],
    "1Gi",
    -0.5,
)
POD = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": 2}}}]}
SEEDS: tuple[dict[str, Any], ...] = (
    {
        "metadata": {
            "labels": {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/priority-class": "p"},
            "annotations": {"kueue.x-k8s.io/job-min-parallelism": "1"},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "o", "uid": "1", "controller": True}],
            "finalizers": ["a/b"],
        },
        "spec": {
            "suspend": False,
            "parallelism": 3,
            "template": {"metadata": {"annotations": {}}, "spec": POD},
            "podSets": [{"name": "main", "count": 3, "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD}}],
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4", "lendingLimit": 1}]}],
                }
            ],
            "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
            "admissionChecksStrategy": {"admissionChecks": [{"name": "c", "onFlavors": ["f"]}]},
            "nodeTaints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
        },
        "status": {
            "conditions": [{"type": "QuotaReserved", "status": "True"}],
            "admission": {
                "clusterQueue": "q",
                "podSetAssignments": [{"name": "main", "count": 3, "resourceUsage": {"cpu": "3"}}],
            },
            "reclaimablePods": [{"name": "main", "count": 1}],
            "admissionChecks": [
                {"name": "c", "state": "Ready", "podSetUpdates": [{"name": "main", "labels": {"a": "b"}}]}
            ],
        },
    },
)


def mutilated(chance: random.Random) -> bytes:
    """A review in which a few places hold something else, or whose bytes are cut or flipped."""
    new, old = (deepcopy(chance.choice(SEEDS)) for _ in range(2))
    for target in (new, old):
        for _ in range(chance.randrange(4)):
            _hurt(target, chance)
    operation = chance.choice(("CREATE", "UPDATE", "UPDATE", "DELETE"))
    body = bytearray(envelope(new, operation, chance.choice((old, None))))
    if chance.random() < 0.2:
        at = chance.randrange(len(body))
        body[at : at + chance.randrange(40)] = chance.randbytes(chance.randrange(4))
    return bytes(body)


def _hurt(target: Any, chance: random.Random) -> None:
    while True:
        keys = list(target) if isinstance(target, dict) else range(len(target)) if isinstance(target, list) else ()
        if not keys:
            return
        key = chance.choice(keys)
        if not isinstance(target[key], dict | list) or not target[key] or chance.random() < 0.25:
            target[key] = deepcopy(chance.choice(JUNK))
            return
        target = target[key]
