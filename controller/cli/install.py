"""`lockgate install`: what a cluster needs before controller and webhooks work; again, to bring it up to date."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from admission.model.durations import BadDuration, duration
from controller.cli.complaint import Complaint
from controller.cli.urls import check_url


def command(
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Credentials; default: $KUBECONFIG, ~/.kube/config, or the pod's account.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file.")] = None,
    feature_gates: Annotated[
        str | None, typer.Option(help="Kueue's gates, as Name=true,…; not beside featureGates in the file.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Where Lockgate itself lives. [default: kueue-system]")] = None,
    webhook_url: Annotated[
        str | None,
        typer.Option(help="https://HOST:PORT of the webhooks, where the API server can't reach a Service."),
    ] = None,
    visibility_url: Annotated[
        str | None,
        typer.Option(help="https://HOST:PORT of the controller's visibility API, where no Service leads to it."),
    ] = None,
    wait: Annotated[str, typer.Option(help="How long to wait until the webhooks answer.")] = "0s",
) -> None:
    """Apply CRDs, roles and webhook configurations to a cluster; again to update."""
    # Imported here: they cost half a second that `--help` and a mistyped flag need not wait for.
    from controller.cli.installing import Cluster, install
    from controller.cli.stored import rewrite
    from controller.kit.configuration import BadConfiguration, read_file
    from controller.kube.client import Client, NoCredentials
    from controller.kube.errors import ApiError

    check_url("webhook", webhook_url)
    check_url("visibility", visibility_url)

    async def steps() -> None:
        async with await Client.connect(str(kubeconfig) if kubeconfig else None) as client:
            await install(client, core, webhook_url, visibility_url)
            print(f"installed in namespace {core.namespace}")
            if webhook_url and not visibility_url and core.gates["VisibilityOnDemand"]:
                print("the visibility API is left out: --visibility-url says where the controller serves it")
            if seconds:
                await Cluster(client).answered(seconds)
                print("the webhooks answer")
            for sentence in await rewrite(client):
                print(sentence)

    try:
        seconds = duration(wait)
        core = read_file(config, feature_gates=feature_gates or "", namespace=namespace or "").core
        asyncio.run(steps())
    except BadDuration as error:
        raise Complaint(f"--wait: {error}") from error
    except (BadConfiguration, NoCredentials) as error:
        raise Complaint(str(error)) from error
    except ApiError as error:
        raise Complaint(f"the API server refused: {error}", exit_code=1) from error
