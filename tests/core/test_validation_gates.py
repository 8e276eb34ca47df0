"""Refusals that feature gates switch, and what passes whatever is wrong: labels, statuses, finalizers of the dying."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from admission.answers import Answer, Operation, Request, answer
from admission.jobs.registry import JobKinds
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import Configuration
from admission.model.gates import Gates
from admission.model.job_profile import JobProfile
from admission.model.queues import LocalQueue, PriorityClass
from admission.resources.catalogue import CATALOGUE
from tests.refusals.objects import COHORT, HOLDING, QUEUE, WORKLOAD, holding, of, pod_set, workload
from tests.refusals.row import ABSENT, Object, put
from tests.without_policies import WithoutPolicies

P = "kueue.x-k8s.io/"
BOOST = f"metadata.annotations[{P}priority-boost]"
GATED = f"metadata.annotations[{P}admission-gated-by]"
ELASTIC = f"metadata.annotations[{P}elastic-job]"
REQUESTS = "spec.podSets[0].template.spec.containers[0].resources.requests"
ON_FLAVORS = "spec.admissionChecksStrategy.admissionChecks"
QUOTA = "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"


class Cluster(WithoutPolicies):
    """An empty one with gates."""

    def __init__(self, gates: Mapping[str, bool]) -> None:
        self.configuration = Configuration(gates=Gates(gates))
        self.job_kinds = JobKinds()
        self.accelerators = CATALOGUE
        self.job_profiles: tuple[JobProfile, ...] = ()
        self.colocation_profiles: tuple[ColocationProfile, ...] = ()

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        return None

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None:
        return None

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        return {}

    def has_priority_class(self, name: str) -> bool:
        return False

    def owner(self, namespace: str, api_version: str, kind: str, name: str) -> None:
        return None


def asked(verb: str, new: Object, old: Object | None = None, subresource: str = "", /, **gates: bool) -> Answer:
    """What the webhook for the object's kind says; the same for parsed objects and for bytes off the wire."""
    group = "batch-v1" if new["kind"] == "Job" else "kueue-x-k8s-io-v1beta2"
    path = f"/{verb}-{group}-{new['kind'].lower()}"
    operation: Operation = "CREATE" if old is None else "UPDATE"
    said = answer(path, Request(operation, "lab", new, old, subresource), Cluster(gates))
    wire = msgspec.json.encode(new), None if old is None else msgspec.json.encode(old)
    assert answer(path, Request(operation, "lab", *wire, subresource), Cluster(gates)) == said
    return said


def refused(new: Object, old: Object | None = None, /, **gates: bool) -> str:
    """The complaint, or nothing."""
    return asked("validate", new, old, **gates).message


def test_negative_requests_are_let_through_without_their_gate() -> None:
    wrong = put(WORKLOAD, {REQUESTS: {"cpu": "-1"}})
    assert "must be greater than or equal to 0" in refused(wrong)
    assert not refused(wrong, WorkloadValidateResourcesAreNonNegative=False)
    assert "reserved" in refused(
        put(WORKLOAD, {REQUESTS: {"pods": "1"}}), WorkloadValidateResourcesAreNonNegative=False
    )


def test_labels_of_pods_are_let_through_without_their_gate() -> None:
    wrong = put(WORKLOAD, {"spec.podSets[0].template.metadata.labels": {"a": "b c"}})
    assert refused(wrong)
    assert not refused(wrong, WorkloadValidationForPodSetMetadata=False)


@pytest.mark.parametrize("made", [WORKLOAD, {**of("Job", {"parallelism": 1}), "apiVersion": "batch/v1"}])
def test_admission_gates_are_anything_without_their_gate(made: Object) -> None:
    wrong = put(made, {GATED: "budget"})
    assert "domain-prefixed path" in refused(wrong)
    assert not refused(wrong, AdmissionGatedBy=False)
    assert not refused(put(made, {GATED: "a.io/b"}), made, AdmissionGatedBy=False)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("5", ""),
        ("-2147483648", ""),
        ("", 'Invalid value: "": must be a valid signed integer; use "0" explicitly, empty string is not allowed'),
        ("high", 'Invalid value: "high": must be a valid signed integer'),
        ("2147483648", 'Invalid value: "2147483648": must be a valid signed integer'),
        ("1" * 5000, "must be a valid signed integer"),
    ],
)
def test_a_priority_boost_is_read_with_its_gate_only(value: str, why: str) -> None:
    boosted = put(WORKLOAD, {BOOST: value})
    assert not refused(boosted)
    said = refused(boosted, PriorityBoost=True)
    assert (why in said) if why else not said


def test_old_mistakes_about_flavors_are_refused_with_their_gate() -> None:
    old = put(QUEUE, {ON_FLAVORS: [{"name": "budget", "onFlavors": ["gone"]}]})
    new = put(old, {"spec.stopPolicy": "Hold"})
    assert not refused(new, old)
    gate = {"RejectUpdatesToCQWithInvalidOnFlavors": True}
    assert 'onFlavors[0]: Unsupported value: "gone"' in refused(new, old, **gate)


def test_without_partial_admission_a_new_workload_loses_its_smaller_count() -> None:
    small = workload(pod_set("a"), pod_set("b", minCount=1, unknown={"kept": True}))
    assert asked("mutate", small).patch == ()
    said = asked("mutate", small, PartialAdmission=False)
    assert said.patch == ({"op": "remove", "path": "/spec/podSets/1/minCount"},)


def test_a_negative_number_of_groups_is_warned_of() -> None:
    negative = put(WORKLOAD, {"spec.podSets[0].topologyRequest": {"subGroupCount": -2}})
    said = asked("validate", negative)
    assert said.allowed
    path = "spec.podSets[0].topologyRequest.subGroupCount"
    assert said.warnings == (f"{path}: negative value -2 is deprecated and will be rejected in a future release",)
    assert asked("validate", WORKLOAD).warnings == ()


def test_an_elastic_workload_may_shrink_and_then_its_reclaimed_pods_converge() -> None:
    large = put(holding(WORKLOAD, reclaimablePods=[{"name": "main", "count": 3}]), {ELASTIC: "true"})
    small = put(large, {"spec.podSets[0].count": 2})
    assert not refused(small, large)
    assert not refused(put(small, {"metadata.labels": {"a": "b"}}), small)
    converged = put(small, {"status.reclaimablePods": [{"name": "main", "count": 1}]})
    assert not refused(converged, small)
    assert not refused(put(small, {"status.reclaimablePods": []}), small)
    assert "cannot be less than 3" in refused(put(large, {"status.reclaimablePods[0].count": 1}), large)
    assert "should be less or equal to 2" in refused(put(small, {"status.reclaimablePods[0].count": 4}), small)
    assert "field is immutable" in refused(put(small, {"spec.podSets[0].template.spec.x": 1}), large)


NEGATIVE = {
    "ClusterQueue": put(QUEUE, {QUOTA: "-1"}),
    "Cohort": put(COHORT, {QUOTA: "-1"}),
    "ResourceFlavor": of("ResourceFlavor", {"nodeLabels": {"a b": "c"}}),
    "Workload": put(WORKLOAD, {REQUESTS: {"cpu": "-1"}}),
}


@pytest.mark.parametrize("wrong", NEGATIVE.values(), ids=NEGATIVE.keys())
def test_what_was_wrong_from_of_old_can_still_be_labelled_finished_and_let_go(wrong: Object) -> None:
    assert refused(wrong)
    for at, value in (
        ("metadata.labels", {"team": "a"}),
        ("metadata.finalizers", ["a.io/b"]),
        ("status.conditions", []),
    ):
        assert not refused(put(wrong, {at: value}), wrong)
    dying = put(wrong, {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z", "metadata.finalizers": ["a.io/b"]})
    assert not refused(put(dying, {"metadata.finalizers": ABSENT}), dying)
    assert refused(put(wrong, {"spec.active": False, "spec.stopPolicy": "Hold"}), wrong)


@pytest.mark.parametrize("verb", ["mutate", "validate"])
@pytest.mark.parametrize("made", [QUEUE, WORKLOAD, HOLDING, of("ResourceFlavor", {})])
def test_fields_that_nobody_here_knows_pass_untouched(verb: str, made: Object) -> None:
    strange: dict[str, Any] = put(made, {"spec.x-next": {"a": [1]}, "metadata.x-next": 1, "x-next": "y"})
    said = asked(verb, strange)
    assert said.allowed
    assert [operation for operation in said.patch if operation["path"] != "/metadata/finalizers"] == []
    assert asked(verb, deepcopy(strange), strange).allowed
