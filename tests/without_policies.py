"""What a made-up cluster answers webhooks about QueuePolicies and ElasticQuotas when it has none."""

from collections.abc import Iterator

from admission.model.elastic_quota import Bindings
from admission.model.queue_policy import Target
from admission.rules.effective_policy import Policies, path_of


class WithoutPolicies:
    queue_policies = Policies()

    def policy_path(self, namespace: str, local_queue: str) -> Iterator[Target]:
        return path_of(namespace, local_queue, "", lambda kind, name: "")

    def priority_class_value(self, name: str) -> int | None:
        return None

    def elastic_quotas(self, *, fresh: bool = False) -> Bindings:
        return Bindings(())

    def quota_has_pods(self, name: str) -> bool:
        return False
