"""Which steps lead from one version of a kind to another."""

from collections.abc import Mapping
from typing import Any

from admission.api.crd import SERVED, STORED, VERSIONS
from admission.api.v1beta1 import VERSION as OLDER
from admission.conversion import admission_check, cluster_queue, cohort, local_queue, workload
from admission.conversion.fields import Object, Step, Unconvertible
from admission.model.kinds import KUEUE

# Kinds that are not here have the same fields in both.
_STEPS: Mapping[str, Mapping[str, Step]] = {
    kind: {STORED: module.to_v1beta2, OLDER: module.to_v1beta1}
    for kind, module in (
        ("AdmissionCheck", admission_check),
        ("ClusterQueue", cluster_queue),
        ("Cohort", cohort),
        ("LocalQueue", local_queue),
        ("Workload", workload),
    )
}


def convert(manifest: Object, version: str) -> dict[str, Any]:
    """The object in this version; the metadata stays. Raises Unconvertible."""
    if version not in VERSIONS:
        raise Unconvertible("", f"version {version!r} is unknown: {' and '.join(VERSIONS)} are served")
    kind, api_version = manifest.get("kind"), manifest.get("apiVersion")
    if not isinstance(kind, str) or kind not in SERVED:
        raise Unconvertible("kind", f"{kind!r} is not a kind of {KUEUE} that is served here")
    if api_version not in [f"{KUEUE}/{served}" for served in VERSIONS]:
        raise Unconvertible("apiVersion", f"{api_version!r} is unknown: {KUEUE} has {' and '.join(VERSIONS)}")
    wanted = f"{KUEUE}/{version}"
    if api_version != wanted and kind in _STEPS:
        manifest = _STEPS[kind][version](manifest)
    return {**manifest, "apiVersion": wanted}
