"""`lockgate all`: controller and webhooks side by side, as two processes, so that a scheduling cycle never delays an
API request. They live and die together.
"""

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from controller.cli import koordinator
from controller.cli.complaint import Complaint

STOP_SECONDS = 20.0  # what a child may take to finish its requests; Kubernetes itself gives a pod 30


def command(
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Credentials; default: $KUBECONFIG, ~/.kube/config, or the pod's account.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file; flags win over it.")] = None,
    feature_gates: Annotated[
        str | None, typer.Option(help="Kueue's gates, as Name=true,…; not beside featureGates in the file.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Where Lockgate itself lives.")] = None,
    metrics_bind: Annotated[
        str | None, typer.Option(help="The controller's, by HTTPS unless it is http://HOST:PORT. [default: :8443]")
    ] = None,
    metrics_cert_dir: Annotated[
        Path | None, typer.Option(help="Folder with tls.crt and tls.key for the controller's metrics, watched.")
    ] = None,
    health_bind: Annotated[str | None, typer.Option(help="The controller's. [default: :8081]")] = None,
    visibility_bind: Annotated[
        str | None, typer.Option(help="HOST:PORT of the visibility API; 0: none. [default: :8082]")
    ] = None,
    webhook_bind: Annotated[str | None, typer.Option(help="HOST:PORT to answer on. [default: :9443]")] = None,
    webhook_cert_dir: Annotated[
        Path | None, typer.Option(help="Folder with tls.crt and tls.key, watched; else an authority of our own.")
    ] = None,
    webhook_metrics_bind: Annotated[
        str | None, typer.Option(help="The webhooks', plain HTTP. [default: :8090]")
    ] = None,
    webhook_health_bind: Annotated[str | None, typer.Option(help="The webhooks'. [default: :8091]")] = None,
    koordinator_preset: koordinator.Preset = None,
    koordinator_bands: koordinator.Bands = None,
) -> None:
    """Run controller and webhooks as two processes."""
    shared = _flags(kubeconfig=kubeconfig, config=config, feature_gates=feature_gates, namespace=namespace)
    # By module name: nothing here may import the webhooks.
    start = [sys.executable, "-m", "controller.cli"]
    code = asyncio.run(
        together(
            [
                [
                    *start,
                    "controller",
                    *shared,
                    *_flags(
                        metrics_bind=metrics_bind,
                        metrics_cert_dir=metrics_cert_dir,
                        health_bind=health_bind,
                        visibility_bind=visibility_bind,
                    ),
                ],
                [
                    *start,
                    "webhooks",
                    *shared,
                    *_flags(
                        webhook_bind=webhook_bind,
                        webhook_cert_dir=webhook_cert_dir,
                        metrics_bind=webhook_metrics_bind,
                        health_bind=webhook_health_bind,
                        koordinator_preset=koordinator_preset,
                        koordinator_bands=koordinator_bands,
                    ),
                ],
            ]
        )
    )
    if code:
        raise Complaint("one of the two processes failed; its last lines say why", exit_code=code)


def _flags(**values: object) -> list[str]:
    """Those that were set, as they are written on a command line."""
    return [
        part
        for name, value in values.items()
        if value is not None
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]


async def together(commands: Sequence[Sequence[str]]) -> int:
    """Run them until one ends or we are told to stop, then end the rest; the exit code of the first that failed."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # A session of its own each: a Ctrl-C at the terminal reaches us alone, and we pass it on once.
    children = [await asyncio.create_subprocess_exec(*one, start_new_session=True) for one in commands]
    ends = [asyncio.create_task(child.wait()) for child in children]
    told = asyncio.create_task(stop.wait())
    await asyncio.wait([*ends, told], return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    asked = stop.is_set()
    codes = [end.result() for end in ends if end.done()]
    for child in children:
        if child.returncode is None:
            child.terminate()
    _, late = await asyncio.wait(ends, timeout=STOP_SECONDS)
    for child in children:
        if child.returncode is None:
            child.kill()
    if late:
        await asyncio.wait(late)
    if asked:
        codes = [end.result() for end in ends]
    return next((abs(code) for code in codes if code), 0 if asked else 1)
