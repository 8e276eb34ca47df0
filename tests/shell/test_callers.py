"""Who calls and what they may do: believed only from the front proxy or by token, remembered briefly."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from controller.kube.callers import ACCESS_REVIEWS, CONFIGURATION, TOKEN_REVIEWS, Callers, Unknown, User, Wish
from controller.kube.client import Client
from tests.shell.conftest import StillClock

PROXY = {
    "requestheader-client-ca-file": "PEM",
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
}
BY_PROXY = {"subject": ((("commonName", "front-proxy-client"),),)}
QUEUE = Wish(group="visibility.kueue.x-k8s.io", resource="clusterqueues", subresource="pendingworkloads", name="q")


class Reviewing(Client):
    """Answers reviews by a table and counts them."""

    def __init__(self, data: dict[str, str]) -> None:
        self.data = data
        self.asked: list[dict[str, Any]] = []
        self.allowed = True

    async def call(self, method: str, path: str, **rest: Any) -> bytes:
        if path == CONFIGURATION:
            return msgspec.json.encode({"data": self.data})
        spec = msgspec.json.decode(rest["body"])["spec"]
        self.asked.append(spec)
        if path == TOKEN_REVIEWS:
            good = spec["token"] == "good"
            status = {"authenticated": good, "user": {"username": "ann", "groups": ["team"]} if good else {}}
            return msgspec.json.encode({"status": status})
        assert path == ACCESS_REVIEWS
        return msgspec.json.encode({"status": {"allowed": self.allowed}})


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


def values(headers: dict[str, list[str]]) -> Any:
    def of(name: str) -> Sequence[str]:
        return headers.get(name, []) if name else list(headers)

    return of


async def callers(client: Client, clock: StillClock) -> tuple[Callers, list[str]]:
    trusted: list[str] = []
    made = Callers(client, trusted.append, clock)
    await made.look()
    return made, trusted


NOBODY: dict[str, list[str]] = {}
SAID = {"X-Remote-User": ["bob"], "X-Remote-Group": ["a", "b"], "X-Remote-Extra-Scopes": ["x"]}


async def test_the_front_proxy_is_believed(clock: StillClock) -> None:
    found, trusted = await callers(Reviewing(PROXY), clock)
    user = await found.who(BY_PROXY, {}, values(SAID))
    assert user == User("bob", ("a", "b", "system:authenticated"), extra=(("scopes", ("x",)),))
    assert trusted == ["PEM"]


@pytest.mark.parametrize(
    ("certificate", "data"),
    [
        (None, PROXY),
        ({"subject": ((("commonName", "somebody"),),)}, PROXY),
        (BY_PROXY, {}),
        (BY_PROXY, {**PROXY, "requestheader-username-headers": "not JSON"}),
    ],
    ids=["no certificate", "another name", "nothing published", "unreadable"],
)
async def test_nobody_else_is(certificate: Any, data: dict[str, str], clock: StillClock) -> None:
    found, _ = await callers(Reviewing(data), clock)
    with pytest.raises(Unknown):
        await found.who(certificate, {}, values(SAID))


async def test_a_token_is_asked_about_once_in_a_while(clock: StillClock) -> None:
    client = Reviewing(PROXY)
    found, _ = await callers(client, clock)
    for _ in range(3):
        assert await found.who(None, {"Authorization": "Bearer good"}, values(NOBODY)) == User("ann", ("team",))
    assert len(client.asked) == 1
    clock.jump(11)
    await found.who(None, {"Authorization": "Bearer good"}, values(NOBODY))
    assert len(client.asked) == 2


@pytest.mark.parametrize("header", ["Bearer bad", "Bearer ", "Basic Z29vZA==", ""])
async def test_other_words_are_nobodys(header: str, clock: StillClock) -> None:
    found, _ = await callers(Reviewing(PROXY), clock)
    with pytest.raises(Unknown):
        await found.who(None, {"Authorization": header}, values(NOBODY))


async def test_rights_are_asked_for_by_user_and_wish_and_forgotten_soon(clock: StillClock) -> None:
    client = Reviewing(PROXY)
    found, _ = await callers(client, clock)
    ann = User("ann", ("team",))
    assert await found.may(ann, QUEUE)
    client.allowed = False
    assert await found.may(ann, QUEUE), "remembered"
    assert not await found.may(ann, QUEUE._replace(name="other"))
    assert not await found.may(User("eve"), QUEUE)
    clock.jump(11)
    assert not await found.may(ann, QUEUE)
    attributes = client.asked[0]["resourceAttributes"]
    assert attributes == {"verb": "get", **{key: value for key, value in QUEUE._asdict().items() if value}}


async def test_who_may_do_everything_is_not_asked_about(clock: StillClock) -> None:
    client = Reviewing(PROXY)
    found, _ = await callers(client, clock)
    assert await found.may(User("root", ("system:masters",)), QUEUE)
    assert client.asked == []
