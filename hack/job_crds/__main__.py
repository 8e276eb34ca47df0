"""The command line: `python -m hack.job_crds list|install`; the latter on a cluster of `python -m hack.cluster`."""

import argparse
import sys
from pathlib import Path

from hack.cluster import Cluster, HackError, state
from hack.cluster.commands import perform
from hack.cluster.say import say
from hack.job_crds.crds import KINDS, crd_file, install_job_crds


def main() -> int:
    """Run one command; an expected failure is a message, not a traceback."""
    return perform(_parser())


def show(arguments: argparse.Namespace) -> None:
    """Get what is missing, and print where it is."""
    del arguments
    for kind in KINDS:
        sys.stdout.write(f"{kind}\t{crd_file(kind)}\n")


def install(arguments: argparse.Namespace) -> None:
    """Have a running cluster serve the kinds."""
    try:
        cluster = Cluster.open(arguments.name, arguments.dir)
    except FileNotFoundError:
        raise HackError(
            f"no cluster '{arguments.name}'\n  start it: python -m hack.cluster up --name {arguments.name}"
        ) from None
    kinds = arguments.kinds or list(KINDS)
    install_job_crds(cluster, kinds)
    say(f"cluster '{cluster.name}' serves {', '.join(kinds)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hack.job_crds", description="The CRDs of the job operators.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("list", help="get what is missing; prints where it is").set_defaults(run=show)
    start = commands.add_parser("install", help="apply them to a running cluster")
    start.add_argument("--name", default="dev", help="which cluster (default: %(default)s)")
    start.add_argument("--dir", type=Path, default=state.clusters_dir(), help="parent folder of clusters")
    start.add_argument("kinds", nargs="*", metavar="KIND", help="only these")
    start.set_defaults(run=install)
    return parser


if __name__ == "__main__":
    sys.exit(main())
