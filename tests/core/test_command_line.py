"""The `lockgate` command itself: what it lists, what it imports, how it fails."""

import subprocess
import sys

import pytest

from controller.cli.__main__ import COMMANDS
from tests.core.test_hostile_manifests import run

_IMPORTED = """
import sys
from controller.cli.__main__ import main
try:
    main(["simulate", "--help"])
except SystemExit:
    pass
heavy = {name.partition(".")[0] for name in sys.modules} & {"aiohttp", "kubernetes_asyncio", "prometheus_client", "ssl"}
sys.exit(", ".join(sorted(heavy)) or 0)
"""


def test_help_of_an_offline_command_waits_for_no_server_library() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORTED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    assert "lockgate.dev/arrival" in done.stdout


def test_every_command_is_listed_with_what_it_does() -> None:
    code, out, _ = run("--help")
    assert code == 0
    told = " ".join(out.replace("│", " ").split())
    assert all(f"{name} {summary}" in told for name, summary in COMMANDS.items())


def test_the_version_is_printed() -> None:
    code, out, _ = run("--version")
    assert (code, out.split()[0]) == (0, "lockgate")


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("simulate",), ("simulate", "x", "--output", "xml"), ("simulate", "--fast", "x")]
)
def test_what_is_not_understood_ends_with_2_and_no_traceback(arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
