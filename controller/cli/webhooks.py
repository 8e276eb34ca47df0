"""`lockgate webhooks`: the process that answers the API server. It replaces this one, so signals reach it directly."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from controller.cli import koordinator


def command(
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Credentials; default: $KUBECONFIG, ~/.kube/config, or the pod's account.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file.")] = None,
    feature_gates: Annotated[
        str | None, typer.Option(help="Kueue's gates, as Name=true,…; not beside featureGates in the file.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Where Service and Secret of the webhooks are.")] = None,
    webhook_bind: Annotated[str | None, typer.Option(help="HOST:PORT to answer on. [default: :9443]")] = None,
    webhook_cert_dir: Annotated[
        Path | None, typer.Option(help="Folder with tls.crt and tls.key, watched; else an authority of our own.")
    ] = None,
    metrics_bind: Annotated[
        str | None, typer.Option(help="HOST:PORT of /metrics, plain HTTP; 0: none. [default: :8090]")
    ] = None,
    health_bind: Annotated[
        str | None, typer.Option(help="HOST:PORT of /healthz and /readyz; 0: none. [default: :8091]")
    ] = None,
    koordinator_preset: koordinator.Preset = None,
    koordinator_bands: koordinator.Bands = None,
) -> None:
    """Run the webhook server: stamps and holds jobs, refuses what can't be right."""
    flags = {
        "--kubeconfig": kubeconfig,
        "--config": config,
        "--feature-gates": feature_gates,
        "--namespace": namespace,
        "--webhook-bind": webhook_bind,
        "--webhook-cert-dir": webhook_cert_dir,
        "--metrics-bind": metrics_bind,
        "--health-bind": health_bind,
        "--koordinator-preset": koordinator_preset,
        "--koordinator-bands": koordinator_bands,
    }
    given = [part for flag, value in flags.items() if value is not None for part in (flag, str(value))]
    # By module name: nothing here may import the webhooks.
    os.execv(sys.executable, [sys.executable, "-m", "webhooks", *given])
