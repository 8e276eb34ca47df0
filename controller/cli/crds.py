"""`lockgate crds`: the CustomResourceDefinitions, as they are generated from the models of admission/api."""

import sys
from pathlib import Path
from typing import Annotated

import typer
import yaml

from admission.api.crd import definitions
from controller.cli.complaint import Complaint


def crds(output: Path | None) -> None:
    """Write all CRDs as YAML documents to a file, or to standard output. Raises Complaint when it cannot."""
    text = "---\n".join(yaml.dump(each, Dumper=_Readable, sort_keys=False, width=120) for each in definitions())
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise Complaint(f"--output {output}: {error.strerror}: name a file in a folder that can be written") from error


def command(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead.")] = None,
) -> None:
    """Print the CustomResourceDefinitions, ready for `kubectl apply --server-side -f -`."""
    crds(output)


class _Readable(yaml.SafeDumper):
    """Without anchors: shared parts of schemas are written out, as people and diffs expect."""

    def ignore_aliases(self, data: object) -> bool:
        return True
