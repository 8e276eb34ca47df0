"""What a queued RayJob or RayCluster is refused for, and in which words."""

from typing import Any

import pytest

from admission.validation.ray import check_ray_cluster, check_ray_job
from tests.core.test_ray_jobs import Object, cluster, group, job, of


def told(manifest: Object) -> list[str]:
    return [str(error) for error in (check_ray_job if manifest["kind"] == "RayJob" else check_ray_cluster)(manifest)]


def short(*workers: Object, **spec: Any) -> Object:
    return job(*workers, shutdownAfterJobFinishes=True, **spec)


def test_a_job_that_leaves_nothing_behind_is_taken() -> None:
    assert told(short(group())) == told(cluster(group())) == []


@pytest.mark.parametrize("value", [False, None, "true"])
def test_a_job_must_give_its_cluster_back(value: Any) -> None:
    why = "a kueue managed job should delete the cluster after finishing"
    assert told(job(shutdownAfterJobFinishes=value)) == [f"spec.shutdownAfterJobFinishes: Invalid value: false: {why}"]


def test_a_job_has_either_a_cluster_of_its_own_or_another() -> None:
    shared = {"ray.io/cluster": "shared"}
    assert told(of("RayJob", {"clusterSelector": shared})) == []
    (error,) = told(short(clusterSelector=shared))
    assert error.startswith('spec.clusterSelector: Invalid value: {"ray.io/cluster":"shared"}: ')
    assert error.endswith("a kueue managed job should not use an existing cluster")
    (error,) = told(of("RayJob", {}))
    assert error.startswith("spec.rayClusterSpec: Required value: ")
    assert error.endswith("rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector")


def test_a_cluster_that_resizes_itself_is_refused_whatever_it_says_of_elasticity() -> None:
    for notes in ({}, {"kueue.x-k8s.io/elastic-job": "true"}):
        (error,) = told(cluster(enableInTreeAutoscaling=True, notes=notes))
        assert error.startswith(
            "spec.enableInTreeAutoscaling: Invalid value: true: "
            "a kueue managed job should only use autoscaling when workload slicing is enabled"
        )
    assert told(cluster(enableInTreeAutoscaling=False)) == []


def test_seventeen_groups_of_workers_and_the_head_are_the_most() -> None:
    groups = [group(f"w{index}") for index in range(18)]
    assert told(cluster(*groups[:17])) == []
    assert told(short(*groups)) == ["spec.rayClusterSpec.workerGroupSpecs: Too many: 19: must have at most 18 items"]


def test_the_heads_name_is_taken() -> None:
    assert told(cluster(group("a"), group("head"))) == [
        'spec.workerGroupSpecs[1].groupName: Forbidden: "head" is reserved for the head group'
    ]


@pytest.mark.parametrize("odd", [None, "x", [], [None, 1], {"workerGroupSpecs": "x"}, {"workerGroupSpecs": [None]}])
def test_what_is_no_cluster_is_judged_without_a_crash(odd: Any) -> None:
    told(of("RayJob", {"rayClusterSpec": odd, "clusterSelector": odd}))
    told({"kind": "RayCluster", "spec": odd})
