"""Files with the odd features of what people really apply: each is held and counted as the documentation says, or
refused with the words that it shows."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from admission.answers import Operation, Request, answer, hooks_for
from admission.jobs.ray_job import served
from admission.jobs.registry import JOB_KINDS, JobKinds
from admission.jobs.workload import compose
from admission.model.amounts import text as quantity
from admission.model.workload import PodSet
from admission.readers.workload import read_workload
from controller.kit.documents import BadDocument, read_yaml
from tests.core.test_stamping import Cluster, patched

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "what-users-apply"
FILES = sorted(FOLDER.glob("*.yaml"))
_ROW = re.compile(r"^\| \[([-\w.]+)\]\(\.\./examples/what-users-apply/\1\) \|.*\| ([^|]+) \|$", re.MULTILINE)


def documented() -> dict[str, str]:
    """The last column of the table, by file."""
    return dict(_ROW.findall((ROOT / "docs" / "job-kinds.md").read_text(encoding="utf-8")))


def what_becomes_of(file: Path) -> str:
    """As the table says it: how many pods of which size, or why not."""
    try:
        documents = [each.content for each in read_yaml(file.read_text(encoding="utf-8"))]
    except BadDocument as bad:
        return f"refused: {bad}"
    kinds = JobKinds()
    ((kind, manifest),) = [
        (kind, document)
        for document in documents
        if (kind := kinds.named(document["apiVersion"].partition("/")[0], document["kind"])) is not None
    ]
    made = patched(manifest, asked("mutate", kind, manifest).patch)
    made = dict(served(made)) if kind == "RayJob" else made
    said = asked("validate", kind, made)
    job = JOB_KINDS[kind].read(made)
    assert job.suspended
    assert job.queue_name
    if not said.allowed:
        return f"refused: {said.message}"
    if job.problem:
        return f"held, with an event: {job.problem}"
    kept = read_workload(compose(kind, {**made, "metadata": {**made["metadata"], "name": "a", "uid": "u"}}, "w"))
    assert [one.requests for one in kept.pod_sets] == [one.requests for one in job.pod_sets]
    return "; ".join(map(shown, job.pod_sets))


def asked(verb: str, kind: str, manifest: Any) -> Any:
    """Of a namespace that has a LocalQueue `default`."""
    operation: Operation = "CREATE"
    (path,) = [hook.path for hook in hooks_for(kind, operation) if hook.verb == verb]
    return answer(path, Request(operation, "lab", manifest, None), Cluster(defaults=("lab",)))


def shown(pods: PodSet) -> str:
    return f"{pods.name} {pods.count} × {_amounts(pods.requests.items()) or 'nothing'}"


def _amounts(each: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {quantity(name, units)}" for name, units in each if units)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_is_counted_or_refused_as_documented(file: Path) -> None:
    assert documented().get(file.name) == what_becomes_of(file)


def test_the_table_shows_every_file() -> None:
    assert list(documented()) == [file.name for file in FILES]
