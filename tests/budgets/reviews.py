"""The review of a Job of 18 KB, as large as training jobs with three containers and their settings come."""

import json
from typing import Any

CONTAINERS, SETTINGS = 3, 110


def job_review() -> bytes:
    """A new Job that names a queue, by a person who runs kubectl."""
    request = {
        "uid": "6f1d7c1e-6c0e-4c0c-9a43-0f6f6a6f4b52",
        "kind": {"group": "batch", "version": "v1", "kind": "Job"},
        "resource": {"group": "batch", "version": "v1", "resource": "jobs"},
        "name": "fine-tune",
        "namespace": "lab",
        "operation": "CREATE",
        "userInfo": {"username": "ada", "groups": ["research", "system:authenticated"]},
        "object": _job(),
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "kubectl-create"},
    }
    return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}).encode()


def _job() -> dict[str, Any]:
    containers = [
        {
            "name": f"part-{number}",
            "image": f"registry.example.com/lab/part-{number}:2.1",
            "resources": {"requests": {"cpu": "2", "memory": "4Gi"}, "limits": {"memory": "4Gi"}},
            "env": [{"name": f"SETTING_{each:03}", "value": f"some-value-{each}"} for each in range(SETTINGS)],
        }
        for number in range(CONTAINERS)
    ]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "fine-tune", "namespace": "lab", "labels": {"kueue.x-k8s.io/queue-name": "gpu"}},
        "spec": {
            "parallelism": 4,
            "completions": 4,
            "template": {
                "metadata": {"labels": {"app": "fine-tune"}},
                "spec": {"restartPolicy": "Never", "containers": containers},
            },
        },
    }
