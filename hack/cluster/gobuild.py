"""Builds a command from its Go module, once per version, into the cache.

Versions and checksums are ours: a go.mod and go.sum per tool, committed beside this file. The cache is keyed by
them and by the linker flags, so changing a version is changing a go.mod, and an old build is never taken for a new.
"""

import hashlib
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hack.cluster.cache import appearing, cache_dir, locked
from hack.cluster.errors import BuildFailed, tail
from hack.cluster.say import say
from hack.cluster.wheels import GO, command

PATIENCE = 30  # seconds between two "still building" lines


@dataclass(frozen=True, slots=True)
class Tool:
    """One command: the folder of its go.mod, its main package, the module whose version it carries."""

    name: str
    folder: Path
    package: str
    module: str
    stamp: tuple[str, ...] = ()  # linker variables that get the version
    seconds: int = 200  # cold build on 2 cores, to tell the person waiting

    @property
    def version(self) -> str:
        """The module's version, read from our go.mod."""
        found = re.search(rf"^require {re.escape(self.module)} (\S+)$", self._text("go.mod"), re.MULTILINE)
        if not found:
            raise BuildFailed(f"{self.folder}/go.mod has no line 'require {self.module} …': restore it from git")
        return found[1]

    @property
    def flags(self) -> tuple[str, ...]:
        """The arguments of `go build` that shape the result."""
        number = self.version.removeprefix("v").split(".")
        words = {"version": self.version, "major": number[0], "minor": number[1]}
        stamps = " ".join("-X " + variable.format(**words) for variable in self.stamp)
        return ("-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", f"-s -w {stamps}".strip())

    @property
    def binary(self) -> Path:
        """Where the built command is, or will be."""
        recipe = "\0".join([self._text("go.mod"), self._text("go.sum"), self.package, *self.flags])
        key = hashlib.sha256(recipe.encode()).hexdigest()[:8]
        return cache_dir() / "bin" / f"{self.name}-{self.version}-{key}" / self.name

    def build(self) -> Path:
        """Build unless it is there; only one build runs at a time on a machine, whoever asks."""
        if self.binary.exists():
            return self.binary
        with locked("go-build", lambda: say(f"{self.name}: another process is building; waiting for it")):
            if not self.binary.exists():
                with appearing(self.binary.parent) as scratch:
                    self._compile(scratch / self.name)
        return self.binary

    def _compile(self, output: Path) -> None:
        go = command(GO)
        say(f"building {self.name} {self.version} (about {self.seconds} s on 2 cores, once)")
        started = time.monotonic()
        argv = [str(go), "build", *self.flags, "-o", str(output), self.package]
        with tempfile.TemporaryFile("w+") as log:
            process = subprocess.Popen(argv, cwd=self.folder, env=go_environment(go), stdout=log, stderr=log)
            try:
                while _still_running(process):
                    say(f"  still building {self.name}, {time.monotonic() - started:.0f} s")
            finally:
                process.kill()  # only an interrupt gets here with a live build
                process.wait()
            if process.returncode:
                log.seek(0)
                raise BuildFailed(self._failure(log.read()))
        say(f"built {self.name} {self.version} in {time.monotonic() - started:.0f} s")

    def _failure(self, output: str) -> str:
        return (
            f"go build {self.package} failed:\n{tail(output)}\n"
            f"  'dial', 'lookup', 'timeout', '403': Go cannot reach its modules; see `go env GOPROXY`\n"
            f"  'signal: killed': out of memory; a build needs about 2 GiB free\n"
            f"  'missing go.sum entry': run `go mod tidy` in {self.folder} and commit go.mod and go.sum"
        )

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text()


def go_environment(go: Path) -> dict[str, str]:
    """The user's own settings for Go, minus what would change the result."""
    path = f"{go.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOTOOLCHAIN": "local", "PATH": path}


def module_dir(folder: Path, module: str) -> Path:
    """The sources of a module that the go.mod in `folder` asks for, downloaded when missing."""
    go = command(GO)
    ran = subprocess.run(
        [str(go), "mod", "download", "-json", module],
        cwd=folder,
        env=go_environment(go),
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r'"Dir": "([^"]+)"', ran.stdout)
    if not found:
        raise BuildFailed(
            f"the Go module {module} cannot be had:\n{tail(ran.stdout + ran.stderr)}\n  see `go env GOPROXY`"
        )
    return Path(found[1])


def build_all(tools: Iterable[Tool]) -> dict[str, Path]:
    """Build what is missing, one after another: two Go builds at once only fight for memory."""
    return {tool.name: tool.build() for tool in tools}


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return True
    return False
