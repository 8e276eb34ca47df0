"""What one pod asks for: Kubernetes' formula, and what makes a pod impossible."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.model.configuration import Resources
from admission.readers.pod_set import pod_set
from admission.readers.workload import read_workload
from admission.resources.effective import Adjustment
from admission.rules.asks import problem_of

PATH = "spec.podSets[0].template.spec"
INVALID = "resources validation failed: "


def container(requests: dict[str, Any] | None = None, limits: dict[str, Any] | None = None, **fields: Any) -> Any:
    return {"name": "c", "image": "none", "resources": {"requests": requests or {}, "limits": limits or {}}, **fields}


def asked(**pod: Any) -> dict[str, int]:
    return dict(pod_set("main", {"spec": pod}, 1).requests)


def problem(*pods: dict[str, Any]) -> str:
    """Of a workload with a pod set for each of the pod specs."""
    pod_sets = [{"name": f"set-{at}", "template": {"spec": pod}} for at, pod in enumerate(pods)]
    return problem_of(Adjustment(Resources()).of(read_workload({"spec": {"podSets": pod_sets}}), None, {}))


def test_containers_run_together() -> None:
    pair = [container({"cpu": "1", "memory": "1Gi"}), container({"cpu": "500m"})]
    assert asked(containers=pair) == {"cpu": 1500, "memory": 2**30}


def test_init_containers_run_before_them_one_by_one() -> None:
    assert asked(initContainers=[container({"cpu": 3}), container({"cpu": 2})], containers=[container({"cpu": 1})]) == {
        "cpu": 3000
    }


def test_a_sidecar_stays_beside_all_that_start_after_it() -> None:
    sidecar = container({"cpu": "1"}, restartPolicy="Always")
    pod = {"initContainers": [sidecar, container({"cpu": "3"})], "containers": [container({"cpu": "1"})]}
    assert asked(**pod, overhead={"cpu": "500m"}) == {"cpu": 4500}
    before = {"initContainers": [container({"cpu": "3"}), sidecar], "containers": [container({"cpu": "1"})]}
    assert asked(**before) == {"cpu": 3000}


def test_a_limit_stands_for_a_missing_request() -> None:
    assert asked(containers=[container({"cpu": "1"}, {"cpu": "4", "memory": "1k"})]) == {"cpu": 1000, "memory": 1000}


def test_what_the_pod_states_as_a_whole_replaces_the_sum() -> None:
    pair = [container({"cpu": "1", "nvidia.com/gpu": 1}), container({"cpu": "1"})]
    whole = {"requests": {"cpu": "4", "nvidia.com/gpu": 9}, "limits": {"memory": "2Gi"}}
    assert asked(containers=pair, resources=whole) == {"cpu": 4000, "memory": 2 * 2**30, "nvidia.com/gpu": 1}


def test_sums_are_rounded_once() -> None:
    assert asked(containers=[container({"cpu": "0.0004"})] * 2) == {"cpu": 1}
    assert asked(containers=[container({"memory": "500m"})] * 2) == {"memory": 1}


def test_a_negative_request_gives_no_credit() -> None:
    assert asked(containers=[container({"cpu": "-4"}), container({"cpu": "1"})]) == {"cpu": 1000}


def test_amounts_beyond_int64_stay_what_they_are() -> None:
    assert asked(containers=[container({"cpu": "9223372036854775807"})] * 2) == {"cpu": 2 * (2**63 - 1) * 1000}


@pytest.mark.parametrize(
    ("pod", "said"),
    [
        (
            {"containers": [container(), container({"cpu": 2, "memory": 2}, {"cpu": 1, "memory": 1})]},
            f'{PATH}.containers[1]: Invalid value: ["cpu","memory"]: requests must not exceed its limits',
        ),
        (
            {"initContainers": [container({"cpu": "1001m"}, {"cpu": "1"})]},
            f'{PATH}.initContainers[0]: Invalid value: ["cpu"]: requests must not exceed its limits',
        ),
        (
            {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
            f'{PATH}.resources: Invalid value: ["cpu"]: requests must not exceed its limits',
        ),
    ],
)
def test_a_request_above_its_limit_can_never_run(pod: dict[str, Any], said: str) -> None:
    assert problem(pod) == INVALID + said


@pytest.mark.parametrize("stated", ["four", True, None, [], "1" * 65])
def test_what_is_no_quantity_is_named(stated: Any) -> None:
    said = problem({"containers": [container({"cpu": stated})]})
    assert said.startswith(f"{INVALID}{PATH}.containers[0].resources.requests[cpu]: Invalid value: ")
    assert "quantity" in said


def test_several_problems_are_all_told() -> None:
    broken = {"containers": [container({"cpu": "x"}), container({"cpu": 2}, {"cpu": 1})]}
    said = problem({"containers": [container()]}, broken, broken)
    assert said.startswith(f"{INVALID}[")
    for at in (1, 2):
        assert f"spec.podSets[{at}].template.spec.containers[0].resources.requests[cpu]: " in said
        assert f"spec.podSets[{at}].template.spec.containers[1]: " in said


def test_a_bottomless_template_is_a_problem_and_no_crash() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    assert problem({"containers": [{"env": deep}]}).startswith(f"{INVALID}{PATH}: is nested too deeply")


sizes = st.integers(0, 5).map(lambda cpu: container({"cpu": cpu}))


@given(st.lists(sizes, max_size=3), st.lists(sizes, max_size=3), sizes)
def test_one_more_container_never_lowers_what_is_asked(starting: list[Any], running: list[Any], more: Any) -> None:
    before = asked(initContainers=starting, containers=running).get("cpu", 0)
    assert asked(initContainers=starting, containers=[*running, more]).get("cpu", 0) >= before
    assert asked(initContainers=[*starting, more], containers=running).get("cpu", 0) >= before
