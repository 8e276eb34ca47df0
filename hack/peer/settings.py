"""The Configurations under which scenarios are played: one process of each side for each of them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from admission.configuration.reader import read
from admission.model.configuration import Configuration

HEAD = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
# A resource that quota is counted in, though no pod asks for it by that name; and one that quota never sees.
CREDITS, GPU, FREE = "peer.dev/credits", "peer.dev/gpu", "free.dev/thing"

# What is laid over the settings that each side ships.
FILES: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "fair": {
        "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]},
    },
    "resources": {
        "resources": {
            "excludeResourcePrefixes": ["free.dev/"],
            "transformations": [{"input": GPU, "strategy": "Replace", "outputs": {CREDITS: "2"}}],
        },
    },
}


@cache
def core(name: str) -> Configuration:
    """The same for our core."""
    reading = read({**HEAD, **FILES[name]})
    if reading.problems:
        raise ValueError(f"settings {name}: {reading.problems[0]}")
    return reading.core
