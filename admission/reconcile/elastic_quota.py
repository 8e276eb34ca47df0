"""What is published on an ElasticQuota: figures in annotations, use in the status, each as Koordinator writes it."""

from collections.abc import Mapping

from admission.model.amounts import text
from admission.model.effects import Patch
from admission.model.elastic_quota import CHILD_REQUEST, REQUEST, RUNTIME, ElasticQuota
from admission.model.kinds import Ref
from admission.readers.narrow import canonical
from admission.rules.elastic_quotas import Standing


def publish(quota: ElasticQuota, standing: Standing) -> Patch | None:
    """The next write that is due, use first; None: all of it is said already."""
    ref = Ref("ElasticQuota", quota.namespace, quota.name)
    used = _quantities(standing.used)
    if used != quota.used:
        gone = {name: None for name in quota.used if name not in used}
        return Patch(ref, {"status": {"used": {**gone, **used}}}, "status", quota.resource_version)
    figures = {RUNTIME: standing.runtime, REQUEST: standing.request, CHILD_REQUEST: standing.child_request}
    wanted = {name: canonical(_quantities(units)) for name, units in figures.items()}
    changed = {name: said for name, said in wanted.items() if quota.published.get(name) != said}
    return Patch(ref, {"metadata": {"annotations": changed}}, None, quota.resource_version) if changed else None


def _quantities(units: Mapping[str, int]) -> dict[str, str]:
    return {resource: text(resource, units[resource]) for resource in sorted(units)}
