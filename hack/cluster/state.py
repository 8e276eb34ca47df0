"""What is written down about a running cluster, so that another process can find it, use it and end it."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hack.cluster import processes
from hack.cluster.cache import cache_dir, locked
from hack.cluster.errors import HackError
from hack.cluster.pki import write_secret
from hack.cluster.processes import Process

FILE = "cluster.json"


@dataclass(slots=True)
class State:
    """A cluster on disk: where it is, how to reach it, which processes it is made of, who is starting it."""

    name: str
    folder: Path
    owner: Process | None = None  # set while it starts, and as long as it must not outlive that process
    server: str = ""
    etcd: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    components: list[Process] = field(default_factory=list)
    argv: dict[str, list[str]] = field(default_factory=dict)  # how each was started, for a restart

    def save(self) -> None:
        """Replace the record whole, so that no reader sees half of it."""
        record = asdict(self) | {"folder": str(self.folder)}
        scratch = self.folder / f".{FILE}.{os.getpid()}"
        write_secret(scratch, json.dumps(record, indent=1).encode())
        scratch.rename(self.folder / FILE)

    @property
    def alive(self) -> bool:
        """Whether anything of it runs or is being started."""
        return bool(self.owner and self.owner.alive) or any(process.alive for process in self.components)

    def end(self) -> None:
        """Kill what runs, wait till it is gone, remove the folder."""
        processes.stop(self.components, self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


def clusters_dir() -> Path:
    """Where clusters live unless told otherwise."""
    return cache_dir() / "clusters"


def claim(name: str, parent: Path) -> State:
    """Take the name: a new folder with a record of who starts it. What a crash left under the name is removed."""
    folder = (parent / name).resolve()
    with locked("clusters"):
        try:
            old = load(folder)
        except FileNotFoundError:
            old = State(name, folder)
        if old.alive:
            raise HackError(f"cluster '{name}' is up in {folder}\n  end it: python -m hack.cluster down --name {name}")
        old.end()
        folder.mkdir(parents=True)
        state = State(name, folder, processes.identify("owner", os.getpid()))
        state.save()
    return state


def load(folder: Path) -> State:
    """Read a record; FileNotFoundError when there is none."""
    record = json.loads((folder / FILE).read_text())
    record["folder"] = folder
    record["owner"] = Process(**record["owner"]) if record["owner"] else None
    record["components"] = [Process(**item) for item in record["components"]]
    return State(**record)


def known(parent: Path) -> Iterator[State]:
    """All clusters below a folder, also dead ones."""
    for file in sorted(parent.glob(f"*/{FILE}")):
        yield load(file.parent.resolve())
