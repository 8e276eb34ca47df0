"""Topology: how nodes are arranged in a data centre, as labels from the widest domain to the narrowest."""

from typing import Annotated, Any

from pydantic import Field

from admission.api.rules import IMMUTABLE, LEVEL_RULES
from admission.api.shapes import ATOMIC, QUALIFIED, Schema, Shape, rules


class TopologyLevel(Shape):
    """One sort of domain, like a block, a rack or a node."""

    node_label: Annotated[str, Field(min_length=1, max_length=316, pattern=QUALIFIED)]
    """The label whose value names the domain that a node is in."""


class TopologySpec(Shape):
    """The sorts of domains."""

    levels: Annotated[
        list[TopologyLevel], Field(min_length=1, max_length=16), ATOMIC, Schema(rules(IMMUTABLE, *LEVEL_RULES))
    ]
    """From the widest domain to the narrowest; cannot be changed."""


class Topology(Shape):
    """How nodes are arranged, for flavors whose pods must run near each other."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: TopologySpec | None = None
    """The sorts of domains."""
