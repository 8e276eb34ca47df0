"""The command line: `python -m hack.cluster up|down|list|build|env`."""

import argparse
import shlex
import sys
from pathlib import Path

from hack.cluster import bringup, pools, state
from hack.cluster.cluster import Cluster
from hack.cluster.commands import perform
from hack.cluster.components import Extra
from hack.cluster.errors import HackError
from hack.cluster.say import say
from hack.cluster.wheels import KUBECTL, command

NAME = "dev"


def main() -> int:
    """Run one command; an expected failure is a message, not a traceback."""
    return perform(_parser())


def up(arguments: argparse.Namespace) -> None:
    """Start a cluster that stays; its kubeconfig's path is the only line on standard output."""
    cluster = Cluster.start(
        arguments.name,
        nodes=arguments.nodes,
        gpus=arguments.gpus,
        pools=[pools.parse(text) for text in arguments.pool],
        users=arguments.user,
        extra=Extra(apiserver=tuple(arguments.apiserver_arg), feature_gates=arguments.feature_gates),
        folder=arguments.dir,
        detach=True,
    )
    say(f"cluster '{cluster.name}' at {cluster.server}, etcd at {cluster.etcd_endpoint}")
    sys.stdout.write(f"{cluster.kubeconfig}\n")


def down(arguments: argparse.Namespace) -> None:
    """End clusters and remove what they left."""
    found = [record for record in state.known(arguments.dir) if arguments.all or record.name == arguments.name]
    if not found and not arguments.all:
        raise HackError(f"no cluster '{arguments.name}' in {arguments.dir}\n  see: python -m hack.cluster list")
    for record in found:
        record.end()
        say(f"cluster '{record.name}' is gone")


def show(arguments: argparse.Namespace) -> None:
    """One line per cluster."""
    for record in state.known(arguments.dir):
        running = sum(process.alive for process in record.components)
        word = "up" if running == len(record.components) else f"{running} of {len(record.components)} parts up"
        sys.stdout.write(f"{record.name}\t{word if record.alive else 'dead'}\t{record.server}\t{record.folder}\n")


def build(arguments: argparse.Namespace) -> None:
    """Build everything a cluster needs, and print where it is."""
    del arguments
    for name, path in bringup.build().items():
        sys.stdout.write(f"{name}\t{path}\n")
    sys.stdout.write(f"kubectl\t{command(KUBECTL)}\n")


def env(arguments: argparse.Namespace) -> None:
    """Shell lines for `eval`: the cluster's kubeconfig and addresses, and kubectl on PATH."""
    try:
        cluster = Cluster.open(arguments.name, arguments.dir)
    except FileNotFoundError:
        raise HackError(
            f"no cluster '{arguments.name}'\n  start it: python -m hack.cluster up --name {arguments.name}"
        ) from None
    values = {
        "KUBECONFIG": str(cluster.kubeconfig),
        "LOCKGATE_SERVER": cluster.server,
        "LOCKGATE_TOKEN": cluster.token,
        "LOCKGATE_CA_FILE": str(cluster.ca_file),
        "LOCKGATE_ETCD": cluster.etcd_endpoint,
    }
    for name, value in values.items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
    sys.stdout.write(f"export PATH={shlex.quote(str(command(KUBECTL).parent))}:$PATH\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hack.cluster", description="Real control planes for tests.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = argparse.ArgumentParser(add_help=False)
    one.add_argument("--name", default=NAME, help="which cluster (default: %(default)s)")
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("--dir", type=Path, default=state.clusters_dir(), help="parent folder of clusters")

    start = commands.add_parser("up", parents=[one, place], help="start a cluster; prints its kubeconfig's path")
    start.add_argument("--nodes", type=int, default=0, metavar="N", help="N equal nodes: 32 cpu, 128Gi, --gpus GPUs")
    start.add_argument("--gpus", type=int, default=0, metavar="N", help="nvidia.com/gpu of each of those nodes")
    start.add_argument("--pool", action="append", default=[], help=pools.EXAMPLE + "; repeatable")
    start.add_argument("--user", action="append", default=[], help="name[:group,…] who gets a token; repeatable")
    start.add_argument("--feature-gates", default="", help="for all Kubernetes components: A=true,B=false")
    start.add_argument("--apiserver-arg", action="append", default=[], help="passed on; like --apiserver-arg=--v=4")
    start.set_defaults(run=up)

    end = commands.add_parser("down", parents=[one, place], help="end a cluster and remove its folder")
    end.add_argument("--all", action="store_true", help="every cluster of this folder")
    end.set_defaults(run=down)

    for name, function, parents, text in (
        ("list", show, [place], "which clusters there are"),
        ("build", build, [], "build what is missing; prints where it is"),
        ("env", env, [one, place], 'shell lines: eval "$(python -m hack.cluster env)"'),
    ):
        commands.add_parser(name, parents=parents, help=text).set_defaults(run=function)
    return parser


if __name__ == "__main__":
    sys.exit(main())
