"""Where built parts and running clusters live on disk, and how processes that share the folder take turns.

Everything is below one folder in the user's cache, so a second checkout finds the builds of the first.
A finished part is a folder that appears by rename: whoever sees it, sees all of it.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir() -> Path:
    """Lockgate's folder in the user's cache; made when missing."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "lockgate"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(name: str, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock between processes; `waiting` is called once when another one has it.

    The kernel drops the lock with its process, so a killed build never blocks the next.
    """
    folder = cache_dir() / "locks"
    folder.mkdir(exist_ok=True)
    with (folder / name).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """A scratch folder that becomes `target` when the block ends well, and nothing when it does not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield scratch
        scratch.chmod(0o755)
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
