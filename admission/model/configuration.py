"""The settings of the product that change a decision, read from Kueue's Configuration file.

Field names and defaults are Kueue's (v1beta2); durations are seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from admission.model.gates import Gates
from admission.model.qos import Koordinator
from admission.model.selectors import EVERYTHING, LabelRule, Selector

NAMESPACE = "kueue-system"  # Kueue's own default, so that existing manifests and roles fit

NOT_SYSTEM = Selector((LabelRule("kubernetes.io/metadata.name", "NotIn", ("kube-system", NAMESPACE)),))

FINAL_SHARE, INITIAL_SHARE = "LessThanOrEqualToFinalShare", "LessThanInitialShare"


@dataclass(frozen=True, slots=True)
class WaitForPodsReady:
    """How long an admitted workload may take until all its pods are ready, and what follows when it takes longer."""

    timeout: float = 1800.0
    recovery_timeout: float | None = 1800.0  # None: for ever
    block_admission: bool = False
    requeuing_timestamp: str = "Eviction"  # Eviction | Creation
    backoff_limit_count: int | None = None
    backoff_base_seconds: int = 60
    backoff_max_seconds: int = 3600


@dataclass(frozen=True, slots=True)
class FairSharing:
    """Present: fair sharing is on, for order and preemption."""

    preemption_strategies: tuple[str, ...] = (FINAL_SHARE, INITIAL_SHARE)


@dataclass(frozen=True, slots=True)
class AdmissionFairSharing:
    """Present: LocalQueues of usage-based ClusterQueues are served by what they have used."""

    usage_half_life: float = 0.0
    usage_sampling_interval: float = 300.0
    resource_weights: Mapping[str, Fraction] = field(default_factory=dict)  # a missing resource weighs 1


@dataclass(frozen=True, slots=True)
class Transformation:
    """Requests for `input` become requests for `outputs` (per unit of input, exact, in whole cores and base units)."""

    input: str
    outputs: Mapping[str, Fraction]
    replace: bool = False  # strategy Replace: the input itself is dropped
    multiply_by: str = ""  # the resource whose request multiplies the input


@dataclass(frozen=True, slots=True)
class Resources:
    exclude_prefixes: tuple[str, ...] = ()
    transformations: tuple[Transformation, ...] = ()
    ignore_undeclared: bool = False  # quotaCheckStrategy: IgnoreUndeclared


@dataclass(frozen=True, slots=True)
class Retention:
    """objectRetentionPolicies.workloads; None keeps for ever, 0 not at all."""

    after_finished: float | None = None
    after_deactivated: float | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """What is published besides the usual."""

    cluster_queue_resources: bool = False
    local_queues: Selector | None = EVERYTHING  # whose metrics are published; None: no LocalQueue's


@dataclass(frozen=True, slots=True)
class Configuration:
    namespace: str = NAMESPACE
    manage_jobs_without_queue_name: bool = False
    managed_jobs_namespace_selector: Selector = field(default_factory=lambda: NOT_SYSTEM)
    wait_for_pods_ready: WaitForPodsReady | None = field(default_factory=WaitForPodsReady)
    fair_sharing: FairSharing | None = None
    admission_fair_sharing: AdmissionFairSharing | None = None
    resources: Resources = field(default_factory=Resources)
    retention: Retention = field(default_factory=Retention)
    label_keys_to_copy: tuple[str, ...] = ()
    frameworks: tuple[str, ...] | None = None  # job kinds that are managed, by our names; None: all that there are
    metrics: Metrics = field(default_factory=Metrics)
    gates: Gates = field(default_factory=Gates)
    koordinator: Koordinator = field(default_factory=Koordinator)  # not of the file: a flag of each process says it


DEFAULTS = Configuration()
