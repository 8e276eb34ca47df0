"""A cluster as an API server lists it: thirty queues, full, and many Workloads of which every fifth is admitted.

Workloads are as the controller makes them of Jobs, with what the API server adds. Each runs with arguments of its own,
so that nothing is read once for several of them.
"""

from typing import Any

KUEUE = "kueue.x-k8s.io/v1beta2"
QUEUES, COHORTS, NAMESPACE = 30, 5, "crowd"
ADMITTED_OF = 5  # one in so many
SINCE = "2026-01-05T08:00:00Z"


def queue_of(number: int) -> str:
    return f"queue-{number // ADMITTED_OF % QUEUES}"


def admitted(number: int) -> bool:
    return number % ADMITTED_OF == 0


def configuration(workloads: int) -> dict[str, list[dict[str, Any]]]:
    """Everything but the Workloads, by kind. Quotas are what the admitted ones use."""
    held = dict.fromkeys((f"queue-{number}" for number in range(QUEUES)), 0)
    for number in range(0, workloads, ADMITTED_OF):
        held[queue_of(number)] += 1
    return {
        "Namespace": [_object("v1", "Namespace", NAMESPACE, {})],
        "ResourceFlavor": [_object(KUEUE, "ResourceFlavor", "standard", {"spec": {}})],
        "Cohort": [
            _object(KUEUE, "Cohort", f"cohort-{number}", {"spec": {"parentName": "company"}})
            for number in range(COHORTS)
        ],
        "ClusterQueue": [_cluster_queue(name, number, units) for number, (name, units) in enumerate(held.items())],
        "LocalQueue": [
            _object(KUEUE, "LocalQueue", name, {"spec": {"clusterQueue": name}}, NAMESPACE) for name in held
        ],
    }


def workload(number: int) -> dict[str, Any]:
    """The one of this number: an admitted one asks for one core, one that waits for two."""
    held, name = admitted(number), f"job-train-{number:06}-3f2a1"
    uid = f"00000000-0000-4000-8000-{number:012}"
    cores = "1" if held else "2"
    owner = {
        "apiVersion": "batch/v1", "kind": "Job", "name": f"train-{number:06}", "uid": uid.replace("4000", "4001"),
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    metadata = {
        "name": name,
        "namespace": NAMESPACE,
        "uid": uid,
        "resourceVersion": str(1000 + number),
        "generation": 1,
        "creationTimestamp": SINCE,
        "finalizers": ["kueue.x-k8s.io/resource-in-use"],
        "labels": {"kueue.x-k8s.io/job-uid": owner["uid"]},
        "ownerReferences": [owner],
        "managedFields": _managed_fields(held),
    }
    spec = {
        "active": True,
        "priority": number % 3,
        "queueName": queue_of(number),
        "podSets": [{"name": "main", "count": 1, "template": _template(number, cores)}],
    }
    status = _admitted(queue_of(number)) if held else _waiting()
    return {"apiVersion": KUEUE, "kind": "Workload", "metadata": metadata, "spec": spec, "status": status}


def _cluster_queue(name: str, number: int, cores: int) -> dict[str, Any]:
    quotas = [
        {"name": "cpu", "nominalQuota": str(cores)},
        {"name": "memory", "nominalQuota": f"{4 * cores}Gi"},
    ]
    spec = {
        "cohortName": f"cohort-{number % COHORTS}",
        "namespaceSelector": {},
        "queueingStrategy": "BestEffortFIFO",
        "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"},
        "resourceGroups": [
            {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "standard", "resources": quotas}]}
        ],
    }
    return _object(KUEUE, "ClusterQueue", name, {"spec": spec})


def _local_queue(name: str) -> dict[str, Any]:
    return _object(KUEUE, "LocalQueue", name, {"spec": {"clusterQueue": name}}, NAMESPACE)


def _template(number: int, cores: str) -> dict[str, Any]:
    container = {
        "name": "train",
        "image": "registry.example.com/team/train:1.4.2",
        "command": ["python", "-m", "train"],
        "args": ["--seed", str(number), "--epochs", "30", "--output", f"/results/{number}"],
        "env": [{"name": f"OPTION_{each}", "value": f"value-{each}"} for each in range(6)],
        "resources": {"requests": {"cpu": cores, "memory": "2Gi"}, "limits": {"memory": "2Gi"}},
        "volumeMounts": [{"name": "results", "mountPath": "/results"}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    return {
        "metadata": {"labels": {"app": "train", "team": f"team-{number % 7}"}},
        "spec": {
            "containers": [container],
            "volumes": [{"name": "results", "persistentVolumeClaim": {"claimName": "results"}}],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "securityContext": {},
            "schedulerName": "default-scheduler",
        },
    }


def _managed_fields(held: bool) -> list[dict[str, Any]]:
    spec: dict[str, Any] = {"f:active": {}, "f:priority": {}, "f:queueName": {}, "f:podSets": {}}
    metadata: dict[str, Any] = {
        "f:finalizers": {".": {}, 'v:"kueue.x-k8s.io/resource-in-use"': {}},
        "f:labels": {".": {}},
    }
    status: dict[str, Any] = {
        "f:conditions": {".": {}, 'k:{"type":"QuotaReserved"}': {".": {}, "f:status": {}, "f:reason": {}}}
    }
    entries = [("kueue-job-controller-Core", "", {"f:metadata": metadata, "f:spec": spec})]
    entries.append(("kueue-admission" if held else "kueue-workload-controller", "status", {"f:status": status}))
    return [
        {
            "manager": manager, "operation": "Update", "apiVersion": KUEUE, "time": SINCE, "fieldsType": "FieldsV1",
            "fieldsV1": fields, **({"subresource": subresource} if subresource else {}),
        }
        for manager, subresource, fields in entries
    ]  # fmt: skip


def _admitted(queue: str) -> dict[str, Any]:
    assignment = {
        "name": "main",
        "count": 1,
        "flavors": {"cpu": "standard", "memory": "standard"},
        "resourceUsage": {"cpu": "1", "memory": "2Gi"},
    }
    return {
        "admission": {"clusterQueue": queue, "podSetAssignments": [assignment]},
        "conditions": [
            _condition("QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue {queue}"),
            _condition("Admitted", "True", "Admitted", "The workload is admitted"),
        ],
    }


def _waiting() -> dict[str, Any]:
    why = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor standard, 2 more needed"
    return {"conditions": [_condition("QuotaReserved", "False", "Pending", why)]}


def _condition(kind: str, status: str, reason: str, message: str) -> dict[str, Any]:
    return {
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": SINCE,
        "observedGeneration": 1,
    }  # fmt: skip


def _object(version: str, kind: str, name: str, rest: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {
        "name": name, "uid": f"uid-of-{name}", "resourceVersion": "1", "generation": 1, "creationTimestamp": SINCE,
        "labels": {"kubernetes.io/metadata.name": name} if kind == "Namespace" else {},
        **({"namespace": namespace} if namespace else {}),
    }  # fmt: skip
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}
