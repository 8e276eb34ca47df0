"""`lockgate uninstall`: takes away what `install` applied, the webhook configurations first. CRDs and queues stay."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from controller.cli.complaint import Complaint


def command(
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Credentials; default: $KUBECONFIG, ~/.kube/config, or the pod's account.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Where Lockgate itself lives. [default: kueue-system]")] = None,
) -> None:
    """Remove webhook configurations, roles and Service; CRDs and what was made of them stay."""
    # Imported here: they cost half a second that `--help` and a mistyped flag need not wait for.
    from controller.cli.installing import uninstall
    from controller.kit.configuration import BadConfiguration, read_file
    from controller.kube.client import Client, NoCredentials
    from controller.kube.errors import ApiError

    async def steps() -> None:
        async with await Client.connect(str(kubeconfig) if kubeconfig else None) as client:
            for sentence in await uninstall(client, core):
                print(sentence)

    try:
        core = read_file(config, namespace=namespace or "").core
        asyncio.run(steps())
    except (BadConfiguration, NoCredentials) as error:
        raise Complaint(str(error)) from error
    except ApiError as error:
        raise Complaint(f"the API server refused: {error}", exit_code=1) from error
