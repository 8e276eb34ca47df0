"""The ConfigMap with accelerators is followed by both processes: that one object, in the product's namespace alone."""

import asyncio

from admission.jobs import READERS
from admission.model.accelerators import CONFIG_MAP, CONFIG_MAP_KEY
from admission.model.configuration import DEFAULTS
from admission.state import State
from controller.books import Books
from controller.cli.roles import manifests
from controller.kit.tasks import together
from controller.kube.client import Client
from tests.shell.apiserver import ApiServer
from tests.shell.conftest import until
from webhooks.view import ClusterView

COLLECTION = "/api/v1/namespaces/kueue-system/configmaps"
OURS = f"{COLLECTION}/{CONFIG_MAP}"
WAFER = {CONFIG_MAP_KEY: "[{name: acme.example/wafer, accelerators: 4}, {name: 7}]"}


def chosen(server: ApiServer) -> bool:
    """Whether nothing but this object was asked for."""
    asked = [request for request in server.requests if "configmaps" in request]
    narrow = f"fieldSelector=metadata.name%3D{CONFIG_MAP}"
    return bool(asked) and all(
        request.startswith(f"GET {COLLECTION}?") and (narrow in request or narrow.replace("%3D", "=") in request)
        for request in asked
    )


async def test_the_controller_counts_by_it_as_long_as_it_is_there(server: ApiServer, client: Client) -> None:
    server.served["v1"].append("configmaps")
    await server.put(OURS, data=WAFER)
    state = State()
    books = Books(client, state, READERS, asyncio.Event(), kinds=("ConfigMap",))
    keeping = asyncio.create_task(books.run())
    await until(lambda: state.objects.requests.catalogue.get("acme.example/wafer") is not None)
    await server.remove(OURS)
    await until(lambda: state.objects.requests.catalogue.get("acme.example/wafer") is None)
    assert chosen(server)
    keeping.cancel()
    await asyncio.wait([keeping])


async def test_webhooks_judge_by_it_as_long_as_it_is_there(server: ApiServer, client: Client) -> None:
    server.served["v1"].append("configmaps")
    await server.put(OURS, data=WAFER)
    view = ClusterView(client, DEFAULTS)
    watching = asyncio.create_task(together(view.watches()))
    await until(lambda: view.accelerators.get("acme.example/wafer") is not None)
    await server.remove(OURS)
    await until(lambda: view.accelerators.get("acme.example/wafer") is None)
    assert chosen(server)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)


def test_both_may_read_that_one_and_no_other() -> None:
    rules = [
        (made["kind"], rule.get("resourceNames"))
        for made in manifests("kueue-system")
        for rule in made.get("rules") or ()
        if "configmaps" in rule["resources"]
    ]
    assert rules == [("Role", [CONFIG_MAP])] * 2
