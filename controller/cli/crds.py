"""`lockgate crds`: the CustomResourceDefinitions, as they are generated from the models of admission/api."""

import sys
from pathlib import Path
from typing import Annotated

import typer
import yaml

from admission.answers import by_service, by_url
from admission.api.crd import CONVERT_PATH, definitions
from admission.model.configuration import DEFAULTS
from controller.cli.complaint import Complaint
from controller.cli.urls import check_url

NAMESPACE = DEFAULTS.namespace


def crds(output: Path | None, namespace: str = NAMESPACE, webhook_url: str | None = None) -> None:
    """Write all CRDs as YAML documents to a file, or to standard output. Raises Complaint when it cannot."""
    check_url("webhook", webhook_url)
    reached = by_url(webhook_url) if webhook_url else by_service(namespace)
    made = definitions(reached(CONVERT_PATH))
    text = "---\n".join(yaml.dump(each, Dumper=_Readable, sort_keys=False, width=120) for each in made)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise Complaint(f"--output {output}: {error.strerror}: name a file in a folder that can be written") from error


def command(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead.")] = None,
    namespace: Annotated[str, typer.Option(help="Where the webhooks are that convert v1beta1.")] = NAMESPACE,
    webhook_url: Annotated[
        str | None, typer.Option(help="https://HOST:PORT of them, where the API server can't reach a Service.")
    ] = None,
) -> None:
    """Print the CustomResourceDefinitions, ready for `kubectl apply --server-side -f -`."""
    crds(output, namespace, webhook_url)


class _Readable(yaml.SafeDumper):
    """Without anchors: shared parts of schemas are written out, as people and diffs expect."""

    def ignore_aliases(self, data: object) -> bool:
        return True
