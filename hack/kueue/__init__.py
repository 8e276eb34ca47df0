"""The real Kueue, built and run beside ours: the peer that compatibility and speed are measured against.

with Kueue.start(cluster) as kueue:
    kueue.usage()

Nothing of Kueue is kept here. Sources and manifests are read from Go's module cache when they are needed.
"""

from hack.kueue.manager import Kueue
from hack.kueue.module import generator_yaml

__all__ = ["Kueue", "generator_yaml"]
