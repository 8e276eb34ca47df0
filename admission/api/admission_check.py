"""AdmissionCheck: a further yes that workloads with quota wait for."""

from typing import Annotated, Any

from pydantic import Field

from admission.api.rules import IMMUTABLE
from admission.api.shapes import LABEL, SUBDOMAIN, Conditions, Schema, Shape, rules


class Parameters(Shape):
    """The object that configures a check."""

    api_group: Annotated[str, Field(min_length=1, max_length=253, pattern=SUBDOMAIN)]
    """Its API group."""
    kind: Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$")]
    """Its kind."""
    name: Annotated[str, Field(min_length=1, max_length=63, pattern=LABEL)]
    """Its name."""


class AdmissionCheckSpec(Shape):
    """Who decides."""

    controller_name: Annotated[str, Field(min_length=1, max_length=253), Schema(rules(IMMUTABLE))]
    """The controller that answers for this check; cannot be changed."""
    parameters: Parameters | None = None
    """The object that configures it."""


class AdmissionCheckStatus(Shape):
    """Whether somebody answers."""

    conditions: Conditions | None = None
    """Active says whether its controller is ready to answer."""


class AdmissionCheck(Shape):
    """A further yes, beside quota, that workloads wait for before they start."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: AdmissionCheckSpec | None = None
    """Who decides."""
    status: AdmissionCheckStatus | None = None
    """Whether somebody answers; written by the check's controller."""
