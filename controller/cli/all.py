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

from controller.cli.complaint import Complaint

STOP_SECONDS = 20.0  # what a child may take to finish its requests; Kubernetes itself gives a pod 30


def command(
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Credentials; default: $KUBECONFIG, ~/.kube/config, or the pod's account.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Where Lockgate itself lives.")] = None,
) -> None:
    """Run controller and webhooks as two processes; what else they need stands in the Configuration file."""
    shared = [
        part
        for flag, value in (("--kubeconfig", kubeconfig), ("--config", config), ("--namespace", namespace))
        if value is not None
        for part in (flag, str(value))
    ]
    # By module name: nothing here may import the webhooks.
    code = asyncio.run(
        together(
            [
                [sys.executable, "-m", "controller.cli", "controller", *shared],
                [sys.executable, "-m", "controller.cli", "webhooks", *shared],
            ]
        )
    )
    if code:
        raise Complaint("one of the two processes failed; its last lines say why", exit_code=code)


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
