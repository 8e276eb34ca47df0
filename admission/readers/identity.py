"""Who created a job, as our webhook wrote it into annotations."""

import json
from functools import lru_cache

MOST_GROUPS = 64  # that count for one user; somebody in more is in those that come first by name


@lru_cache(1024)
def read_groups(stated: str) -> tuple[str, ...]:
    """A JSON list of names; nothing for anything else."""
    try:
        found = json.loads(stated) if stated else []
    except (ValueError, RecursionError):
        return ()
    names = found if isinstance(found, list) else []
    return tuple(name for name in names if isinstance(name, str))[:MOST_GROUPS]
