"""`lockgate controller`: the process that queues, admits and preempts."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from admission.model.durations import duration
from controller.cli.complaint import Complaint

_LEADER = "Leader election"


def command(
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Credentials; default: $KUBECONFIG, ~/.kube/config, or the pod's account.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file; flags win over it.")] = None,
    feature_gates: Annotated[
        str | None, typer.Option(help="Kueue's gates, as Name=true,…; not beside featureGates in the file.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Where Lockgate itself lives: its Lease is there.")] = None,
    metrics_bind: Annotated[
        str | None,
        typer.Option(
            help="HOST:PORT of /metrics, by HTTPS to whom RBAC allows; http://HOST:PORT: plainly, to all; 0: none. "
            "[default: :8443]"
        ),
    ] = None,
    metrics_cert_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with tls.crt and tls.key for /metrics, watched; else an authority of our own."),
    ] = None,
    health_bind: Annotated[
        str | None, typer.Option(help="HOST:PORT of /healthz and /readyz; 0: none. [default: :8081]")
    ] = None,
    visibility_bind: Annotated[
        str | None, typer.Option(help="HOST:PORT of the visibility API; 0: none. [default: :8082]")
    ] = None,
    leader_elect: Annotated[
        bool | None,
        typer.Option(
            "--leader-elect/--no-leader-elect", help="Only the holder of the Lease writes.", rich_help_panel=_LEADER
        ),
    ] = None,
    leader_elect_lease_duration: Annotated[
        str | None, typer.Option(help="Silence after which others take over. [default: 15s]", rich_help_panel=_LEADER)
    ] = None,
    leader_elect_renew_deadline: Annotated[
        str | None,
        typer.Option(help="Without renewal for so long a leader stops. [default: 10s]", rich_help_panel=_LEADER),
    ] = None,
    leader_elect_retry_period: Annotated[
        str | None, typer.Option(help="Between attempts. [default: 2s]", rich_help_panel=_LEADER)
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Run the controller: queues, admission, preemption."""
    # Imported here: they cost half a second that `--help` and a mistyped flag need not wait for.
    from controller import app
    from controller.kit import logs, probes
    from controller.kit.serving import BadPair
    from controller.kube.client import NoCredentials, pod_namespace
    from controller.kube.configuration import BadConfiguration, read_settings

    if log_level not in ("debug", "info", "warning", "error"):
        raise Complaint(f"--log-level {log_level!r}: write debug, info, warning or error")
    try:
        settings = read_settings(
            config, feature_gates=feature_gates or "", namespace=namespace or "", home=pod_namespace()
        )
        timings = replace(
            settings.timings,
            **_given(
                lease=_seconds(leader_elect_lease_duration),
                deadline=_seconds(leader_elect_renew_deadline),
                retry=_seconds(leader_elect_retry_period),
            ),
        )
        settings = replace(
            settings,
            timings=timings,
            **_given(
                leader_elect=leader_elect,
                metrics_bind=metrics_bind,
                metrics_cert_dir=str(metrics_cert_dir) if metrics_cert_dir else None,
                health_bind=health_bind,
            ),
        )
        if visibility_bind is not None:
            host, port = ("", 0) if visibility_bind == probes.OFF else probes.address(visibility_bind)
            settings = replace(settings, visibility_host=host, visibility_port=port)
        for where in (settings.metrics_bind.removeprefix(probes.PLAIN), settings.health_bind):
            if where != probes.OFF:
                probes.address(where)
    except (BadConfiguration, ValueError) as error:
        raise Complaint(str(error)) from error
    logs.start(log_level.upper())
    for note in settings.notes:
        logs.Log("configuration").warning("a setting does not do all that it could", note=str(note))
    try:
        asyncio.run(app.run(settings, str(kubeconfig) if kubeconfig else None))
    except (NoCredentials, BadPair) as error:
        raise Complaint(str(error)) from error


def _seconds(text: str | None) -> float | None:
    return None if text is None else duration(text)


def _given(**flags: object) -> dict[str, Any]:
    """Those that were set."""
    return {name: value for name, value in flags.items() if value is not None}
