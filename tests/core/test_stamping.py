"""What a Job gets on its way in, and that it gets it once: patches only add, and a second stamp adds nothing."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.answers import Answer, Operation, PatchOperation, Request, answer
from admission.jobs.registry import JobKinds
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import Configuration
from admission.model.gates import Gates
from admission.model.job_profile import JobProfile
from admission.model.queues import LocalQueue, PriorityClass
from admission.model.selectors import LabelRule, Selector
from admission.resources.catalogue import CATALOGUE
from tests.without_policies import WithoutPolicies

PATH = "/mutate-batch-v1-job"
QUEUE, WORKLOAD = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/workload"
HOLD: PatchOperation = {"op": "add", "path": "/spec/suspend", "value": True}
MANAGED = Selector((LabelRule("team", "Exists", ()),))


class Cluster(WithoutPolicies):
    """Namespaces with labels, which of them have a default queue, and the jobs that can be owners."""

    def __init__(
        self,
        *,
        defaults: tuple[str, ...] = (),
        classes: tuple[str, ...] = (),
        owners: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.configuration = Configuration(managed_jobs_namespace_selector=MANAGED, **settings)
        self.job_kinds = JobKinds(self.configuration.frameworks)
        self.accelerators = CATALOGUE
        self.job_profiles: tuple[JobProfile, ...] = ()
        self.colocation_profiles: tuple[ColocationProfile, ...] = ()
        self.read: list[str] = []
        self._defaults = defaults
        self._classes = classes
        self._owners = owners or {}

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        return None

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None:
        return LocalQueue(namespace, name, "team") if name == "default" and namespace in self._defaults else None

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        return {"lab": {"team": "a"}, "out": {}}.get(namespace)

    def has_priority_class(self, name: str) -> bool:
        self.read.append(name)
        return name in self._classes

    def owner(self, namespace: str, api_version: str, kind: str, name: str) -> Mapping[str, Any] | None:
        self.read.append(name)
        return self._owners.get(name)


def job(
    queue: str | None = None, *, owner: tuple[str, str] | None = None, kind: str = "Job", **spec: Any
) -> dict[str, Any]:
    """`owner` is name and uid of the controlling owner."""
    metadata: dict[str, Any] = {"name": "a"}
    if queue is not None:
        metadata["labels"] = {QUEUE: queue}
    if owner is not None:
        reference = {"apiVersion": "batch/v1", "kind": kind, "name": owner[0], "uid": owner[1], "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"metadata": metadata, "spec": spec}


def stamped(
    cluster: Cluster, manifest: dict[str, Any], old: dict[str, Any] | None = None, namespace: str = "lab"
) -> Answer:
    operation: Operation = "CREATE" if old is None else "UPDATE"
    return answer(PATH, Request(operation, namespace, manifest, old), cluster)


def patched(manifest: dict[str, Any], patch: tuple[PatchOperation, ...]) -> dict[str, Any]:
    """For the one operation that stamping uses."""
    result = deepcopy(manifest)
    for operation in patch:
        assert operation["op"] == "add"
        *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])
        target: Any = result
        for part in parents:
            target = target[part]
        if isinstance(target, list):
            assert last == "-"
            target.append(operation["value"])
        else:
            target[last] = operation["value"]
    return result


def test_a_job_that_names_a_queue_is_held() -> None:
    assert stamped(Cluster(), job("q")).patch == (HOLD,)


def test_a_job_that_is_held_already_is_left_alone() -> None:
    assert stamped(Cluster(), job("q", suspend=True)).patch == ()


def test_a_job_without_a_queue_is_left_alone() -> None:
    assert stamped(Cluster(), job()).patch == ()


def test_a_job_that_names_a_queue_is_held_even_where_nobody_serves_it() -> None:
    assert stamped(Cluster(), job("q"), namespace="out").patch == (HOLD,)


def test_the_default_queue_of_a_managed_namespace_is_taken() -> None:
    made = patched(job(), stamped(Cluster(defaults=("lab", "out")), job()).patch)
    assert made["metadata"]["labels"] == {QUEUE: "default"}
    assert made["spec"]["suspend"] is True


def test_a_default_queue_keeps_the_labels_that_are_there() -> None:
    mine = job()
    mine["metadata"]["labels"] = {"team/x~y": "z"}
    made = patched(mine, stamped(Cluster(defaults=("lab",)), mine).patch)
    assert made["metadata"]["labels"] == {"team/x~y": "z", QUEUE: "default"}


def test_the_default_queue_of_an_excluded_namespace_is_ignored() -> None:
    assert stamped(Cluster(defaults=("lab", "out")), job(), namespace="out").patch == ()


def test_a_job_whose_owner_is_a_job_never_takes_the_default_queue() -> None:
    assert stamped(Cluster(defaults=("lab",)), job(owner=("o", "1"))).patch == ()


def test_a_child_of_a_cronjob_takes_the_default_queue_and_the_cronjob_is_never_read() -> None:
    cluster = Cluster(defaults=("lab",))
    assert HOLD in stamped(cluster, job(owner=("nightly", "1"), kind="CronJob")).patch
    assert cluster.read == []


CLASS = "kueue.x-k8s.io/priority-class"
CLASSES = Gates({"WorkloadPriorityClassDefaulting": True})


@pytest.mark.parametrize("labels", [None, {}, {"team": "a"}])
def test_the_default_priority_class_is_taken_where_its_gate_is_on(labels: dict[str, str] | None) -> None:
    mine = job()
    if labels is not None:
        mine["metadata"]["labels"] = labels
    cluster = Cluster(defaults=("lab",), classes=("default",), gates=CLASSES)
    made = patched(mine, stamped(cluster, mine).patch)
    assert made["metadata"]["labels"] == {**(labels or {}), QUEUE: "default", CLASS: "default"}


def test_no_priority_class_is_given_to_whom_has_one_or_whose_owner_is_a_job_or_when_there_is_none() -> None:
    ranked = job("q")
    ranked["metadata"]["labels"][CLASS] = "high"
    cluster = Cluster(classes=("default",), gates=CLASSES)
    assert stamped(cluster, ranked).patch == (HOLD,)
    assert stamped(cluster, job("q", owner=("o", "1"))).patch == (HOLD,)
    assert cluster.read == ["o"]
    assert stamped(Cluster(gates=CLASSES), job("q")).patch == (HOLD,)
    asked_without_gate = Cluster(classes=("default",))
    assert stamped(asked_without_gate, job("q")).patch == (HOLD,)
    assert asked_without_gate.read == []


@pytest.mark.parametrize(("namespace", "patch"), [("lab", (HOLD,)), ("out", ())])
def test_all_jobs_of_managed_namespaces_are_held_where_that_is_configured(
    namespace: str, patch: tuple[PatchOperation, ...]
) -> None:
    cluster = Cluster(manage_jobs_without_queue_name=True)
    assert stamped(cluster, job(), namespace=namespace).patch == patch


def test_a_child_of_a_queued_job_is_let_through() -> None:
    parent = {"metadata": {"uid": "1", "labels": {QUEUE: "q"}}}
    assert stamped(Cluster(owners={"o": parent}), job("q", owner=("o", "1"))).patch == ()


def test_a_child_of_a_job_without_a_queue_is_held_for_itself() -> None:
    assert stamped(Cluster(owners={"o": {"metadata": {"uid": "1"}}}), job("q", owner=("o", "1"))).patch == (HOLD,)


@pytest.mark.parametrize(
    "owners", [{}, {"o": {"metadata": {"uid": "2", "labels": {QUEUE: "q"}}}}], ids=["gone", "replaced"]
)
def test_a_stale_or_forged_owner_manages_nothing(owners: dict[str, Any]) -> None:
    assert stamped(Cluster(owners=owners), job("q", owner=("o", "1"))).patch == (HOLD,)


def test_an_owner_that_does_not_control_is_none() -> None:
    child = job("q", owner=("o", "1"))
    child["metadata"]["ownerReferences"][0]["controller"] = False
    assert stamped(Cluster(owners={"o": {"metadata": {"uid": "1", "labels": {QUEUE: "q"}}}}), child).patch == (HOLD,)


def test_a_grandparent_with_a_queue_suffices() -> None:
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "top", "uid": "0", "controller": True}
    owners = {
        "o": {"metadata": {"uid": "1", "ownerReferences": [reference]}},
        "top": {"metadata": {"uid": "0", "labels": {QUEUE: "q"}}},
    }
    assert stamped(Cluster(owners=owners), job("q", owner=("o", "1"))).patch == ()


def test_owners_in_a_circle_are_refused_and_not_followed_for_ever() -> None:
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "o", "uid": "1", "controller": True}
    owners = {"o": {"metadata": {"uid": "1", "ownerReferences": [reference]}}}
    said = stamped(Cluster(owners=owners), job("q", owner=("o", "1")))
    assert not said.allowed
    assert said.message == "metadata.ownerReferences: the chain of owners is longer than 10, or a circle"


def test_a_job_being_deleted_is_left_alone() -> None:
    dying = job("q")
    dying["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert stamped(Cluster(), dying).patch == ()
    assert stamped(Cluster(), dying, job("q", suspend=True)).patch == ()


def test_a_second_apply_of_suspend_false_keeps_a_waiting_job_held_and_says_so() -> None:
    said = stamped(Cluster(), job("q", suspend=False), job("q", suspend=True))
    assert said.patch == (HOLD,)
    assert said.warnings == ("spec.suspend: kept at true, the job waits in LocalQueue q and is started on admission",)


def test_a_manifest_without_suspend_applied_again_keeps_it_held() -> None:
    assert stamped(Cluster(), job("q"), job("q", suspend=True)).patch == (HOLD,)


def test_starting_on_admission_is_not_held_back() -> None:
    template = {"metadata": {"annotations": {WORKLOAD: "job-a-12345"}}}
    assert stamped(Cluster(), job("q", suspend=False, template=template), job("q", suspend=True)) == Answer()


def test_a_running_job_may_be_edited() -> None:
    assert stamped(Cluster(), job("q", suspend=False, parallelism=2), job("q", suspend=False)) == Answer()


def test_a_job_that_is_not_ours_may_be_started_by_hand() -> None:
    assert stamped(Cluster(), job(suspend=False), job(suspend=True)) == Answer()


def test_a_child_of_a_queued_job_may_be_started_by_its_parent() -> None:
    cluster = Cluster(owners={"o": {"metadata": {"uid": "1", "labels": {QUEUE: "q"}}}})
    child = job("q", owner=("o", "1"), suspend=False)
    assert stamped(cluster, child, child | {"spec": {"suspend": True}}) == Answer()


@pytest.mark.parametrize("kind", ["clusterqueue", "resourceflavor"])
def test_queues_and_flavors_get_a_finalizer_beside_those_they_have(kind: str) -> None:
    path = f"/mutate-kueue-x-k8s-io-v1beta2-{kind}"
    without: list[str] = []
    for finalizers in (without, ["acme.io/keep"]):
        metadata: dict[str, Any] = {"name": "x"}
        if finalizers:
            metadata["finalizers"] = finalizers
        made = {"metadata": metadata}
        patch = answer(path, Request("CREATE", "", made), Cluster()).patch
        made = patched(made, patch)
        assert made["metadata"]["finalizers"] == [*finalizers, "kueue.x-k8s.io/resource-in-use"]
        assert answer(path, Request("CREATE", "", made), Cluster()).patch == ()


LABELS = st.none() | st.dictionaries(st.sampled_from(["a", "b/c~d"]), st.just("x"), max_size=2)


@given(
    queue=st.sampled_from([None, "", "q"]),
    labels=LABELS,
    suspend=st.sampled_from([None, True, False]),
    owner=st.sampled_from([None, ("o", "1"), ("other", "1")]),
    default=st.booleans(),
    every=st.booleans(),
    namespace=st.sampled_from(["lab", "out", "unknown"]),
)
def test_stamping_twice_is_stamping_once_and_loses_nothing(
    queue: str | None,
    labels: dict[str, str] | None,
    suspend: bool | None,
    owner: tuple[str, str] | None,
    default: bool,
    every: bool,
    namespace: str,
) -> None:
    owners = {"o": {"metadata": {"uid": "1", "labels": {QUEUE: "q"}}}}
    cluster = Cluster(defaults=(namespace,) if default else (), owners=owners, manage_jobs_without_queue_name=every)
    made = job(queue, owner=owner, unknown={"field": [1, None]})
    if labels is not None:
        made["metadata"]["labels"] = {**made["metadata"].get("labels", {}), **labels}
    if suspend is not None:
        made["spec"]["suspend"] = suspend
    once = patched(made, stamped(cluster, made, namespace=namespace).patch)
    assert stamped(cluster, once, namespace=namespace).patch == ()
    assert once["spec"]["unknown"] == made["spec"]["unknown"]
    assert {**once["metadata"].get("labels", {}), **(labels or {})} == once["metadata"].get("labels", {})
    if once["metadata"].get("labels", {}).get(QUEUE) and owner != ("o", "1"):
        assert once["spec"]["suspend"] is True
