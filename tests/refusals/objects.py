"""Good manifests that rows start from."""

from typing import Any

from tests.refusals.row import Object

API = "kueue.x-k8s.io/v1beta2"
SINCE = "2026-01-02T03:04:05Z"
NO_NAME, LONG_NAME = "No_Name", "n" * 254
NOT_A_NAME = "should match"

# Kueue's mutating webhooks read an object into Go's types, and write it down again, before the schema is asked.
DECODED = "words: its mutating webhook cannot decode the value, and says so in Go's words"
FILLED = "words: its mutating webhook writes the missing text as an empty one"


def of(kind: str, spec: Object | None = None, **fields: Any) -> Object:
    namespaced = kind in ("LocalQueue", "Workload", "Job")
    metadata = {"name": "a", **({"namespace": "default"} if namespaced else {})}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, **({} if spec is None else {"spec": spec}), **fields}


def quota(name: str = "cpu", **limits: Any) -> Object:
    return {"name": name, "nominalQuota": "8", **limits}


def flavor(name: str, *resources: str) -> Object:
    return {"name": name, "resources": [quota(resource) for resource in resources or ("cpu",)]}


def group(resources: tuple[str, ...] = ("cpu",), flavors: tuple[str, ...] = ("spot",)) -> Object:
    return {"coveredResources": list(resources), "flavors": [flavor(name, *resources) for name in flavors]}


def names(count: int, prefix: str = "n") -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(count))


def condition(type: str = "Admitted", **fields: Any) -> Object:
    return {"type": type, "status": "True", "reason": "Because", "message": "", "lastTransitionTime": SINCE, **fields}


def container(**resources: Any) -> Object:
    return {"name": "c", "image": "none", "resources": resources}


def pod_set(name: str = "main", **fields: Any) -> Object:
    template = {"spec": {"containers": [container(requests={"cpu": "1"})], "restartPolicy": "Never"}}
    return {"name": name, "count": 3, "template": template, **fields}


def workload(*pod_sets: Object, **spec: Any) -> Object:
    return of("Workload", {"queueName": "main", "podSets": list(pod_sets or (pod_set(),)), **spec})


def assignment(name: str = "main", **fields: Any) -> Object:
    return {"name": name, "count": 3, "flavors": {"cpu": "spot"}, "resourceUsage": {"cpu": "3"}, **fields}


def holding(made: Object, *conditions: str, **status: Any) -> Object:
    """The workload with quota for each of its pod sets."""
    assignments = [assignment(pods["name"]) for pods in made["spec"]["podSets"]]
    stated = [condition(each) for each in conditions or ("QuotaReserved",)]
    admission = {"clusterQueue": "team", "podSetAssignments": assignments}
    return {**made, "status": {"conditions": stated, "admission": admission, **status}}


QUEUE = of("ClusterQueue", {"cohortName": "all", "namespaceSelector": {}, "resourceGroups": [group()]})
COHORT = of("Cohort", {"parentName": "root", "resourceGroups": [group()]})
WORKLOAD = workload()
HOLDING = holding(WORKLOAD)
