"""ProvisioningRequestConfig: how an AdmissionCheck asks the cluster autoscaler for nodes."""

from typing import Annotated, Any, Literal

from pydantic import Field

from admission.api.shapes import EMPTY_OBJECT, QUALIFIED, SET, SUBDOMAIN, Int32, Shape, map_by


class RetryStrategy(Shape):
    """How often, and how soon, nodes are asked for again when they could not be had."""

    backoff_limit_count: Int32 = 3
    """How often at most."""
    backoff_base_seconds: Int32 = 60
    """The wait before the first time; it doubles with each."""
    backoff_max_seconds: Int32 = 1800
    """The longest wait."""


class NodeSelectorUpdate(Shape):
    """A node label whose value the autoscaler tells."""

    key: Annotated[str, Field(min_length=1, max_length=317, pattern=QUALIFIED)]
    """The label."""
    value_from_provisioning_class_detail: Annotated[str, Field(min_length=1, max_length=32768)]
    """The detail in the ProvisioningRequest's status that holds the value."""


class PodSetUpdates(Shape):
    """What the pods get once nodes are there."""

    node_selector: Annotated[list[NodeSelectorUpdate], Field(max_length=8), map_by("key")] | None = None
    """Node labels that they select."""


class ProvisioningRequestConfigSpec(Shape):
    """What is asked of the autoscaler."""

    provisioning_class_name: Annotated[str, Field(min_length=1, max_length=253, pattern=SUBDOMAIN)]
    """The way of provisioning, as the autoscaler calls it."""
    parameters: Annotated[dict[str, Annotated[str, Field(max_length=255)]], Field(max_length=100)] | None = None
    """What that way wants to know besides."""
    managed_resources: Annotated[list[str], Field(max_length=100), SET] | None = None
    """Only pod sets that ask for one of these need nodes; none means all do."""
    retry_strategy: Annotated[RetryStrategy, EMPTY_OBJECT] | None = None
    """What happens when nodes could not be had."""
    pod_set_updates: PodSetUpdates | None = None
    """What the pods get once nodes are there."""
    pod_set_merge_policy: Literal["IdenticalPodTemplates", "IdenticalWorkloadSchedulingRequirements"] | None = None
    """Pod sets that are alike in this way are asked for as one; none keeps them apart."""


class ProvisioningRequestConfig(Shape):
    """How an AdmissionCheck asks the cluster autoscaler for nodes."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: ProvisioningRequestConfigSpec | None = None
    """What is asked of the autoscaler."""
