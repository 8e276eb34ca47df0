"""ResourceFlavor: one sort of nodes that quota is counted in."""

from typing import Annotated, Any

from pydantic import Field

from admission.api.rules import FLAVOR_RULES, TAINT_EFFECT
from admission.api.shapes import ATOMIC, Labels, Name, Schema, Shape, Time, Tolerations, ruled, rules


class Taint(Shape):
    """What keeps pods off a node unless they tolerate it."""

    key: str
    """The taint's key."""
    value: str | None = None
    """The taint's value."""
    effect: str
    """NoSchedule, PreferNoSchedule or NoExecute."""
    time_added: Time | None = None
    """When it was added."""


class ResourceFlavorSpec(Shape):
    """How to recognise the nodes, and how pods get there."""

    model_config = ruled(*FLAVOR_RULES)

    node_labels: Annotated[Labels, Field(max_length=8), Schema({"x-kubernetes-map-type": "atomic"})] | None = None
    """Labels of the nodes; pods admitted to this flavor get them as their node selector."""
    node_taints: Annotated[list[Taint], Field(max_length=8), ATOMIC, Schema(rules(TAINT_EFFECT))] | None = None
    """Taints of the nodes: only workloads that tolerate them get this flavor."""
    tolerations: Tolerations | None = None
    """Given to pods admitted to this flavor, so they need not name them."""
    topology_name: Name | None = None
    """The Topology by which its nodes are arranged."""


class ResourceFlavor(Shape):
    """One sort of nodes that quota is counted in: a GPU model, a zone, spot or on-demand."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: ResourceFlavorSpec | None = None
    """How to recognise the nodes, and how pods get there."""
