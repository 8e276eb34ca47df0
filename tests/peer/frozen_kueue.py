"""The real Kueue with its webhooks at work and its controllers asleep: nothing that is stored changes by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from hack.cluster import Api, Cluster, Refused
from hack.cluster.wait import until
from hack.kueue import Kueue

NAMESPACE = "kueue-system"
LEASE = "c1f6bfd2.kueue.x-k8s.io"  # in Kueue's shipped Configuration
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NAME = "kueue-validating-webhook-configuration"


@contextmanager
def frozen_kueue(cluster: Cluster, **settings: Any) -> Iterator[Kueue]:
    """Somebody else holds its Lease, for a day. `settings` go into its Configuration."""
    api = cluster.api()
    api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    lease = {
        "metadata": {"name": LEASE, "namespace": NAMESPACE},
        "spec": {
            "holderIdentity": "nobody",
            "leaseDurationSeconds": 24 * 3600,
            "acquireTime": _now(),
            "renewTime": _now(),
        },
    }
    api.create(f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases", lease)
    election = {"leaderElection": {"leaderElect": True, "resourceName": LEASE, "resourceNamespace": NAMESPACE}}
    with Kueue.start(cluster, configuration={**election, **settings}) as kueue:
        yield kueue


@contextmanager
def unvalidated(api: Api, wrong: dict[str, Any], path: str) -> Iterator[None]:
    """While the block runs, no webhook validates; `wrong`, at `path`, is what tells."""
    kept = api.get(f"{VALIDATING}/{NAME}")
    until(lambda: not _accepts(api, path, wrong), 60, "the webhooks to answer")
    api.delete(f"{VALIDATING}/{NAME}")
    until(lambda: _accepts(api, path, wrong), 60, "the webhooks to be out of the way")
    yield
    api.create(VALIDATING, {**kept, "metadata": {"name": NAME}})
    until(lambda: not _accepts(api, path, wrong), 60, "the webhooks to be back")


def _accepts(api: Api, path: str, wrong: dict[str, Any]) -> bool:
    try:
        api.create(f"{path}?dryRun=All", wrong)
    except Refused:
        return False
    return True


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
