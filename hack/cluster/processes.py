"""Processes that outlive the code that started them, and stay recognisable as ours.

A pid alone may by now be somebody else's, so each is kept with its start time, and signals go through a pidfd.
Each process also carries its cluster's folder in its environment: a sweep finds those whose record was lost.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hack.cluster import wait

MARK = "LOCKGATE_CLUSTER_DIR"
TICKS = os.sysconf("SC_CLK_TCK")
STOP_SECONDS = 20.0  # a killed process is gone at once; only a machine out of breath takes longer


@dataclass(frozen=True, slots=True)
class Process:
    """One process of ours: its pid means nothing without its start time (clock ticks since boot)."""

    name: str
    pid: int
    started: int

    @property
    def alive(self) -> bool:
        """Whether it runs. A zombie does not, but one whose other threads are still dying keeps its ports till then."""
        fields = _stat(self.pid)
        if fields is None or int(fields[19]) != self.started:
            return False
        return fields[0] != "Z" or int(fields[17]) > 1

    def send(self, number: signal.Signals) -> None:
        """Signal exactly this process, or nobody."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            if self.alive:  # asked while the pidfd pins the pid: it cannot change hands now
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has used so far."""

    cpu_seconds: float
    peak_bytes: int
    resident_bytes: int


def spawn(name: str, argv: list[str], *, mark: Path, log: Path, env: Mapping[str, str] = {}) -> Process:
    """Start a daemon in a session of its own (Ctrl-C in a terminal is not for it), its output in `log`."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=mark,
            start_new_session=True,
            env={**os.environ, **env, MARK: str(mark)},
        )
    child.returncode = 0  # ours to watch by pid, not Popen's: without this it warns when forgotten
    return identify(name, child.pid)


def identify(name: str, pid: int) -> Process:
    """The process that has this pid now."""
    fields = _stat(pid)
    return Process(name, pid, int(fields[19]) if fields else 0)


def stop(processes: Iterable[Process], mark: Path) -> None:
    """Kill these and whatever else carries the mark, and wait till all are gone.

    Killed rather than asked: everything they hold is thrown away, and an API server takes a minute to say goodbye.
    """
    recorded = list(processes)

    def none_left() -> bool:
        left = [process for process in recorded if runs(process)] + marked(mark)
        for process in left:
            process.send(signal.SIGKILL)
        return not left

    wait.until(none_left, STOP_SECONDS, f"every process of {mark} gone")


def marked(mark: Path) -> list[Process]:
    """Every process, ours to signal, that was started for this folder; never the one that asks."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # gone meanwhile, or another user's
            continue
        if wanted in environment:
            found.append(identify(f"pid {entry.name}", int(entry.name)))
    return [process for process in found if runs(process)]


def usage(process: Process) -> Usage | None:
    """CPU and memory so far, or None when it no longer runs."""
    fields = _stat(process.pid)
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return None
    if fields is None or not process.alive:
        return None
    kib = {
        line.split(":")[0]: int(line.split()[1]) for line in status.splitlines() if line.startswith(("VmHWM", "VmRSS"))
    }
    cpu = (int(fields[11]) + int(fields[12])) / TICKS  # user and system, all threads
    return Usage(cpu, kib.get("VmHWM", 0) * 1024, kib.get("VmRSS", 0) * 1024)


def runs(process: Process) -> bool:
    """Whether it runs; if it is a dead child of ours, it is buried here."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)
    return process.alive


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the name (the name may hold spaces), so [0] is the state."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
