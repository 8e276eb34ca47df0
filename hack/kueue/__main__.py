"""The command line: `python -m hack.kueue build|up|down|generator`, on a cluster of `python -m hack.cluster`."""

import argparse
import sys
from pathlib import Path

import yaml

from hack.cluster import Cluster, HackError, state
from hack.cluster.commands import perform
from hack.cluster.gobuild import build_all
from hack.cluster.say import say
from hack.kueue import module
from hack.kueue.manager import Kueue


def main() -> int:
    """Run one command; an expected failure is a message, not a traceback."""
    return perform(_parser())


def build(arguments: argparse.Namespace) -> None:
    """Build the manager and kueuectl, and print where they are."""
    del arguments
    for name, path in build_all(module.ALL).items():
        sys.stdout.write(f"{name}\t{path}\n")


def up(arguments: argparse.Namespace) -> None:
    """Start the manager on a running cluster."""
    configuration = yaml.safe_load(arguments.config.read_text()) if arguments.config else {}
    kueue = Kueue.start(_cluster(arguments), webhooks=arguments.webhooks, configuration=configuration)
    say(f"Kueue {module.MANAGER.version} runs as process {kueue.pid}; its metrics: {kueue.metrics_url}")


def down(arguments: argparse.Namespace) -> None:
    """End the manager; the cluster stays."""
    Kueue(_cluster(arguments)).stop()


def generator(arguments: argparse.Namespace) -> None:
    """Print the path of Kueue's benchmark mix."""
    del arguments
    sys.stdout.write(f"{module.generator_yaml()}\n")


def _cluster(arguments: argparse.Namespace) -> Cluster:
    try:
        return Cluster.open(arguments.name, arguments.dir)
    except FileNotFoundError:
        raise HackError(
            f"no cluster '{arguments.name}'\n  start it: python -m hack.cluster up --name {arguments.name}"
        ) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hack.kueue", description="The real Kueue, to compare with.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--name", default="dev", help="which cluster (default: %(default)s)")
    where.add_argument("--dir", type=Path, default=state.clusters_dir(), help="parent folder of clusters")
    commands.add_parser("build", help="build what is missing; prints where it is").set_defaults(run=build)
    start = commands.add_parser("up", parents=[where], help="start the manager on a running cluster")
    start.add_argument("--no-webhooks", dest="webhooks", action="store_false", help="leave its webhooks out")
    start.add_argument("--config", type=Path, help="a Configuration laid over the one Kueue ships")
    start.set_defaults(run=up)
    commands.add_parser("down", parents=[where], help="end the manager").set_defaults(run=down)
    commands.add_parser("generator", help="the path of its benchmark mix").set_defaults(run=generator)
    return parser


if __name__ == "__main__":
    sys.exit(main())
