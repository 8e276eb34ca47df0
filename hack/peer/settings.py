"""The Configurations under which scenarios are played: one process of each side for each of them."""

from collections.abc import Mapping
from typing import Any

from admission.model.configuration import Configuration, FairSharing

# What is laid over the settings that each side ships.
FILES: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "fair": {
        "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]},
    },
}


def core(name: str) -> Configuration:
    """The same for our core."""
    return Configuration(fair_sharing=FairSharing() if name == "fair" else None)
