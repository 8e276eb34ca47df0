"""The `lockgate` command: one file per subcommand, imported when it is asked for.

Imported late, because `lockgate simulate` on a laptop should not wait for HTTP and Kubernetes libraries that only the
servers need.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from controller.cli.complaint import Complaint
from controller.cli.telling import deafen

# Each is `controller/cli/<name>.py` (_ for -) with `def command(…)`, whose parameters are the flags.
COMMANDS: Mapping[str, str] = {
    "test": "Run scenario files and compare what happens with what they expect.",
    "simulate": "Play manifests and traces on a virtual clock: who starts when, who waits and why.",
    "diff": "The same jobs under two sets of queues: who starts earlier, later, never; what queues hold.",
    "stamp": "What jobs get on their way into a cluster, which rule gave it, and why others did not match.",
    "explain": "Why one job waits, in numbers, and when it should start.",
    "convert": "Print the queues of KAI, Koordinator, Volcano or YuniKorn as ours, and what could not be carried over.",
    "check-config": "Check a Configuration file and show what it sets.",
    "crds": "Print the CustomResourceDefinitions.",
    "controller": "Run the controller: queues, admission, preemption.",
    "webhooks": "Run the webhook server.",
    "all": "Run controller and webhooks as two processes.",
    "install": "Apply CRDs, roles and webhook configurations to a cluster.",
    "uninstall": "Remove webhook configurations and roles again; CRDs and queues stay.",
}


class _Later(TyperCommand):
    """Stands in the list of commands; becomes the real one when it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        module = importlib.import_module(f"controller.cli.{(self.name or '').replace('-', '_')}")
        one = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        one.command(name=self.name, help=module.command.__doc__ or self.help)(module.command)
        return typer.main.get_command(one).make_context(info_name, args, parent=parent, **extra)


class _Commands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        summary = COMMANDS.get(cmd_name)
        return _Later(cmd_name, help=summary) if summary else None


app = typer.Typer(cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"lockgate {version('lockgate')}")
        raise typer.Exit


@app.callback()
def lockgate(
    shown: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Decides which jobs may start, and when, on a Kubernetes cluster that several teams share."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code where it was not raised as SystemExit."""
    try:
        try:
            app(args=list(arguments) if arguments is not None else None, prog_name="lockgate")
        finally:  # here, as a reader that has left is met when the interpreter ends otherwise
            sys.stdout.flush()
    except BrokenPipeError:
        return _nobody_reads()
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # click and rich end with 1 then
            return _nobody_reads()
        raise
    except Complaint as complaint:
        print(f"lockgate: {complaint}", file=sys.stderr)
        return complaint.exit_code
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"lockgate: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    return 0


def _nobody_reads() -> int:
    """As with `lockgate simulate … | head -1`: the reader has seen enough, which is no failure."""
    deafen()
    return 0


if __name__ == "__main__":
    sys.exit(main())
