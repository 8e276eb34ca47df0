"""What is served over HTTPS, each on a port of its own: metrics and the visibility API; with their certificates."""

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from admission.state import State
from controller.kit import probes
from controller.kit.serving import Files, Serving
from controller.kube.client import Client
from controller.kube.configuration import Settings
from controller.pages import metrics_serving, visibility
from controller.pages.certificate import ControllerAuthority
from controller.pages.metrics import Page


def fronts(
    client: Client, settings: Settings, state: State, page: Page, known: Callable[[], Awaitable[None]]
) -> dict[str, Coroutine[Any, Any, None]]:
    """Loops by name, of every replica. `known`: waits until State is complete. Raises BadPair for given certificates,
    so that those end the start and not the first handshake."""
    loops: dict[str, Coroutine[Any, Any, None]] = {}
    ours: list[Serving] = []
    if probes.is_secured(settings.metrics_bind):
        # Not `asks`, as below: whoever scrapes with a client certificate that we can't judge is known by token all
        # the same, where a handshake that asks would fail.
        serving = Serving(settings.tls_min_version)
        if settings.metrics_cert_dir:
            files = Files(Path(settings.metrics_cert_dir), serving)
            files.step()
            loops["certificates of metrics"] = files.run()
        else:
            ours.append(serving)
        loops["metrics"] = metrics_serving.run(client, page, settings.metrics_bind, serving)
    aggregated = bool(settings.visibility_port) and settings.core.gates["VisibilityOnDemand"]
    if aggregated:
        serving = Serving(settings.tls_min_version, asks=True)
        ours.append(serving)
        where = (settings.visibility_host, settings.visibility_port)
        loops["visibility"] = visibility.run(client, state, where, known, serving)
    if ours:
        loops["certificates"] = ControllerAuthority(client, settings.core.namespace, ours, aggregated=aggregated).run()
    return loops
