"""Where the pods of a pod set must be near each other, as asked for and as assigned."""

from typing import Annotated, Literal

from pydantic import Field

from admission.api.shapes import ATOMIC, Int32, Positive, Schema, Shape, ruled
from admission.api.workload_rules import EXACTLY_ONE, SLICE_RULES, VALUES_FOR_EACH_LEVEL

Level = Annotated[str, Field(max_length=63)]


class SliceConstraint(Shape):
    """Groups of pods that must share one domain."""

    topology: Annotated[str, Field(min_length=1, max_length=63)]
    """The level of the domain, as a node label."""
    size: Positive
    """Pods in a group."""


class TopologyRequest(Shape):
    """How near each other the pods must run."""

    required: Level | None = None
    """All in one domain of this level, or not at all."""
    preferred: Level | None = None
    """In one domain of this level if that is possible, else as few as can be."""
    unconstrained: bool | None = None
    """Anywhere there is room, as known node by node."""
    pod_index_label: Annotated[str, Field(max_length=317)] | None = None
    """The label that numbers the pods."""
    sub_group_index_label: Annotated[str, Field(max_length=317)] | None = None
    """The label that numbers the groups of pods, like a JobSet's replicated jobs."""
    sub_group_count: Int32 | None = None
    """How many such groups there are."""
    pod_set_group_name: Annotated[str, Field(max_length=256)] | None = None
    """Pod sets with the same name are placed together."""
    pod_set_slice_required_topology: Level | None = None
    """The level that each slice of pods must share."""
    pod_set_slice_size: Int32 | None = None
    """Pods in a slice."""
    podset_slice_required_topology_constraints: Annotated[list[SliceConstraint], Field(max_length=3), ATOMIC] | None = (
        None
    )
    """Slices within slices, the largest first."""


class IndividualValues(Shape):
    """Values that differ, with what they have in common said once."""

    prefix: Level | None = None
    """How all of them begin."""
    suffix: Level | None = None
    """How all of them end."""
    roots: Annotated[list[Level], Field(min_length=1, max_length=100000), ATOMIC]
    """What is between, for each domain."""


class LevelValues(Shape):
    """The values of one level."""

    model_config = ruled(EXACTLY_ONE)

    universal: Level | None = None
    """One value for all domains."""
    individual: IndividualValues | None = None
    """A value for each domain."""


class PodCounts(Shape):
    """How many pods go to each domain."""

    model_config = ruled(EXACTLY_ONE)

    universal: Positive | None = None
    """The same number for all domains."""
    individual: Annotated[list[Positive], Field(min_length=1, max_length=100000), ATOMIC] | None = None
    """A number for each domain."""


class TopologySlice(Shape):
    """Some of the domains."""

    model_config = ruled(*SLICE_RULES)

    domain_count: Positive
    """How many."""
    values_per_level: Annotated[list[LevelValues], Field(min_length=1, max_length=16), ATOMIC]
    """Their names, level by level."""
    pod_counts: PodCounts
    """How many pods go to each."""


class TopologyAssignment(Shape):
    """The domains that the pods go to."""

    model_config = ruled(VALUES_FOR_EACH_LEVEL)

    levels: Annotated[list[Annotated[str, Field(max_length=317)]], Field(min_length=1, max_length=16), ATOMIC]
    """The levels that name a domain, as node labels, the widest first."""
    slices: Annotated[list[TopologySlice], Field(max_length=1000), ATOMIC]
    """The domains, some at a time."""


DelayedRequest = Annotated[Literal["Pending", "Ready"], Schema({"maxLength": 7})]
