"""An AdmissionCheck controller as somebody else would write it: it knows the API and nothing of ours."""

import threading
from collections.abc import Mapping
from typing import Any

from hack.cluster import Cluster
from hack.cluster.api import Refused
from tests.live.controllers import KUEUE

SINCE = {"lastTransitionTime": "2026-01-01T00:00:00Z"}


def serve(cluster: Cluster, check: str, wishes: Mapping[str, str], stop: threading.Event) -> None:
    """Until `stop`, in a thread of its own: says that it is at work, and gives the Workload of each Job that holds
    quota the state that `wishes` has for that Job, where it has one and the check is pending."""
    api = cluster.api()
    active = {"type": "Active", "status": "True", "reason": "Active", "message": "at work", **SINCE}
    api.merge(f"{KUEUE}/admissionchecks/{check}/status", {"status": {"conditions": [active]}})
    while not stop.wait(0.1):
        for workload in api.get(f"{KUEUE}/workloads")["items"]:
            meta, status = workload["metadata"], workload.get("status", {})
            states: list[dict[str, Any]] = status.get("admissionChecks", [])
            mine = next((one for one in states if one["name"] == check and one["state"] == "Pending"), None)
            conditions = status.get("conditions", [])  # a Workload just made has none yet
            reserved = any(one["type"] == "QuotaReserved" and one["status"] == "True" for one in conditions)
            wish = wishes.get(meta["ownerReferences"][0]["name"])
            if mine is None or not reserved or wish is None:
                continue
            mine |= {"state": wish, "message": f"{check} says {wish}", **SINCE}
            if wish == "Ready":
                mine["podSetUpdates"] = [{"name": "main", "annotations": {f"acme.io/{check}": "passed"}}]
            path = f"{KUEUE}/namespaces/{meta['namespace']}/workloads/{meta['name']}/status"
            body = {"metadata": {"resourceVersion": meta["resourceVersion"]}, "status": {"admissionChecks": states}}
            try:
                api.merge(path, body)
            except Refused as refused:  # it moved on, and is looked at again as it is now
                if refused.status not in (404, 409, 422):
                    raise
