"""Real Kubernetes control planes for tests: separate processes on loopback, no root, as many side by side as wanted.

    with Cluster.start(nodes=2, gpus=8) as cluster:
        cluster.api().get("/api/v1/nodes")

There is no kubelet: KWOK plays the nodes. So pods run nothing, and webhooks are reached by `url`, not by Service.
"""

from hack.cluster.api import Api, Refused
from hack.cluster.cluster import Cluster
from hack.cluster.components import Extra
from hack.cluster.errors import BuildFailed, HackError, StartFailed
from hack.cluster.pools import Pool
from hack.cluster.processes import Usage

__all__ = ["Api", "BuildFailed", "Cluster", "Extra", "HackError", "Pool", "Refused", "StartFailed", "Usage"]
