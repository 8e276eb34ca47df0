"""The settings of the product that change a decision, read from Kueue's Configuration file."""

from dataclasses import dataclass, field

from admission.model.selectors import LabelRule, Selector

NAMESPACE = "kueue-system"  # Kueue's own default, so that existing manifests and roles fit

NOT_SYSTEM = Selector((LabelRule("kubernetes.io/metadata.name", "NotIn", ("kube-system", NAMESPACE)),))


@dataclass(frozen=True, slots=True)
class Configuration:
    namespace: str = NAMESPACE
    manage_jobs_without_queue_name: bool = False
    managed_jobs_namespace_selector: Selector = field(default_factory=lambda: NOT_SYSTEM)


DEFAULTS = Configuration()
