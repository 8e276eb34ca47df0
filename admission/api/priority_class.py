"""WorkloadPriorityClass: a priority for queueing that leaves pod priorities alone."""

from typing import Annotated, Any

from pydantic import Field

from admission.api.shapes import Int32, Shape


class WorkloadPriorityClass(Shape):
    """A priority for queueing that leaves pod priorities alone; jobs name it in their label
    kueue.x-k8s.io/priority-class."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    value: Int32
    """The priority: higher goes first."""
    description: Annotated[str, Field(max_length=2048)] | None = None
    """What the class is for."""
