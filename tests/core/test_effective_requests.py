"""What quota is asked for: LimitRanges, RuntimeClasses, excluded prefixes and transformations, each and together."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.model.amounts import MAX_INT64
from admission.model.configuration import Resources, Transformation
from admission.model.pods import PodResources
from admission.readers.limit_range import read_limit_range
from admission.readers.pod_resources import stated_by
from admission.readers.runtime_class import read_runtime_class
from admission.readers.workload import read_workload
from admission.resources.effective import Adjustment
from admission.resources.limit_range import Limits, summarized
from admission.rules.asks import problem_of
from tests.core.test_pod_requests import INVALID, PATH, container
from tests.core.test_readers_garbage import garbage

Quantities = dict[str, str]

UNSATISFIED = "resources didn't satisfy LimitRange constraints: "
PLAIN = Resources()


def limits(*ranges: list[dict[str, Any]], kind: str = "Container") -> Limits:
    """LimitRanges with these entries, named a, b, … in this order."""
    return summarized(
        read_limit_range(
            {"metadata": {"name": chr(97 + at)}, "spec": {"limits": [{"type": kind, **one} for one in entries]}}
        )
        for at, entries in enumerate(ranges)
    )


def charged(
    pod: Any, within: Limits | None = None, settings: Resources = PLAIN, overhead: Any = None
) -> dict[str, int]:
    """Of one pod. `overhead`: of RuntimeClass sandbox."""
    classes = {} if overhead is None else {"sandbox": read_runtime_class({"overhead": {"podFixed": overhead}})}
    workload = read_workload({"spec": {"podSets": [{"template": {"spec": pod}}]}})
    return dict(Adjustment(settings).of(workload, within, classes).pod_sets[0].requests)


def refusal(pod: Any, within: Limits) -> str:
    workload = read_workload({"spec": {"podSets": [{"template": {"spec": pod}}]}})
    return problem_of(Adjustment(PLAIN).of(workload, within, {}))


def pod_of(*containers: Any, **fields: Any) -> dict[str, Any]:
    return {"containers": list(containers), **fields}


# --- LimitRanges


def test_a_container_that_states_nothing_gets_the_default_request() -> None:
    within = limits([{"default": {"cpu": "2"}, "defaultRequest": {"cpu": "500m"}}])
    assert charged(pod_of(container(), container({"cpu": "1"})), within) == {"cpu": 1500}


def test_without_a_default_request_the_default_limit_the_maximum_and_then_the_minimum_stand_for_it() -> None:
    entry = {"default": {"cpu": "2"}, "max": {"cpu": "4", "memory": "1Gi"}, "min": {"a": "3"}}
    assert charged(pod_of(container()), limits([entry])) == {"cpu": 2000, "memory": 2**30, "a": 3}


def test_a_default_request_comes_before_a_limit_of_the_containers_own() -> None:
    assert charged(pod_of(container({}, {"cpu": "4"})), limits([{"defaultRequest": {"cpu": "1"}}])) == {"cpu": 1000}


def test_of_several_the_first_default_the_lowest_maximum_and_the_highest_minimum_count() -> None:
    within = limits(
        [{"defaultRequest": {"cpu": "1"}, "max": {"cpu": "8"}, "min": {"cpu": "1"}}],
        [{"defaultRequest": {"cpu": "3"}, "max": {"cpu": "5"}}, {"min": {"cpu": "2"}, "max": {"cpu": "9"}}],
    )
    assert charged(pod_of(container()), within) == {"cpu": 1000}
    for cpu, said in (
        ("1500m", "below the limitRange min"),
        ("2", ""),
        ("5", ""),
        ("5001m", "above the limitRange max"),
    ):
        assert said in refusal(pod_of(container({"cpu": cpu}, {"cpu": cpu})), within)
        assert bool(said) == bool(refusal(pod_of(container({"cpu": cpu}, {"cpu": cpu})), within))


def test_what_a_container_may_not_is_said_in_kueues_words() -> None:
    within = limits([{"max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Gi"}}])
    large, small = container({"cpu": "1"}, {"cpu": "3"}), container({"cpu": "500m", "memory": "1"})
    assert refusal(pod_of(large, initContainers=[small]), within) == (
        f"{UNSATISFIED}["
        f'{PATH}.initContainers[0]: Invalid value: ["cpu","memory"]: requests must not be below the limitRange min, '
        f'{PATH}.containers[0]: Invalid value: ["cpu"]: requests must not be above the limitRange max]'
    )


def test_a_pod_is_judged_by_the_total_of_its_containers() -> None:
    within = limits([{"max": {"cpu": "3"}, "min": {"memory": "4"}}], kind="Pod")
    assert refusal(pod_of(container({"cpu": "2"}), container({"cpu": "1"})), within) == ""
    assert refusal(pod_of(container({"cpu": "2"}), container({"cpu": "2"})), within) == (
        f'{UNSATISFIED}{PATH}: Invalid value: ["cpu"]: requests must not be above the limitRange max'
    )
    assert "below the limitRange min" in refusal(pod_of(container({"memory": "3"})), within)


def test_a_default_for_pods_is_for_those_that_state_resources_as_a_whole() -> None:
    within = limits([{"default": {"cpu": "4"}}], kind="Pod")
    assert charged(pod_of(container({"cpu": "1"})), within) == {"cpu": 1000}
    assert charged(pod_of(container({"cpu": "1"}), resources={"limits": {"memory": "5"}}), within) == {
        "cpu": 4000,
        "memory": 5,
    }


def test_limits_of_other_things_say_nothing_of_pods() -> None:
    within = limits([{"max": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}], kind="PersistentVolumeClaim")
    assert charged(pod_of(container()), within) == {}
    assert refusal(pod_of(container({"cpu": "9"})), within) == ""


def test_a_request_above_a_default_limit_can_never_run_and_that_is_all_that_is_said() -> None:
    said = refusal(pod_of(container({"cpu": "3"})), limits([{"default": {"cpu": "2"}, "max": {"cpu": "2"}}]))
    assert said == f'{INVALID}{PATH}.containers[0]: Invalid value: ["cpu"]: requests must not exceed its limits'


# --- RuntimeClasses


def test_a_pod_without_overhead_gets_that_of_its_class() -> None:
    pod = pod_of(container({"cpu": "1"}), runtimeClassName="sandbox")
    assert charged(pod, overhead={"cpu": "250m", "memory": "1"}) == {"cpu": 1250, "memory": 1}
    assert charged({**pod, "overhead": {"cpu": "1"}}, overhead={"cpu": "250m"}) == {"cpu": 2000}
    assert charged(pod) == {"cpu": 1000}, "nobody knows the class yet"
    assert charged(pod_of(container({"cpu": "1"})), overhead={"cpu": "250m"}) == {"cpu": 1000}


# --- exclusion and transformation


def made(name: str, outputs: Mapping[str, str], replace: bool = False, by: str = "") -> Transformation:
    return Transformation(name, {output: Fraction(factor) for output, factor in outputs.items()}, replace, by)


def test_excluded_prefixes_cost_nothing_and_feed_no_transformation() -> None:
    settings = Resources(("acme.io/", "mem"), (made("acme.io/gpu", {"cpu": "10"}),))
    asks = container({"cpu": "1", "memory": "1Gi", "acme.io/gpu": "4", "other.io/gpu": "1"})
    assert charged(pod_of(asks), settings=settings) == {"cpu": 1000, "other.io/gpu": 1}


def test_an_input_stays_unless_it_is_replaced() -> None:
    kept, replaced = (Resources((), (made("mig", {"gpu-memory": "5"}, replace),)) for replace in (False, True))
    assert charged(pod_of(container({"mig": "2"})), settings=kept) == {"gpu-memory": 10, "mig": 2}
    assert charged(pod_of(container({"mig": "2"})), settings=replaced) == {"gpu-memory": 10}


def test_outputs_of_several_inputs_and_a_request_of_that_name_are_added() -> None:
    settings = Resources((), (made("a", {"credit": "2"}, True), made("b", {"credit": "3"}, True)))
    assert charged(pod_of(container({"a": "1", "b": "1", "credit": "7"})), settings=settings) == {"credit": 12}


def test_a_negative_output_lowers_other_outputs_and_never_a_request() -> None:
    settings = Resources((), (made("a", {"credit": "-5"}, True), made("b", {"credit": "3"}, True)))
    assert charged(pod_of(container({"a": "1", "b": "2"})), settings=settings) == {"credit": 1}
    assert charged(pod_of(container({"a": "1", "b": "1", "credit": "7"})), settings=settings) == {"credit": 7}


def test_a_multiplier_counts_only_where_it_is_requested() -> None:
    settings = Resources((), (made("memory-mib", {"total-mib": "1"}, True, by="gpu"),))
    assert charged(pod_of(container({"memory-mib": "100", "gpu": "4"})), settings=settings) == {
        "gpu": 4,
        "total-mib": 400,
    }
    assert charged(pod_of(container({"memory-mib": "100"})), settings=settings) == {"total-mib": 100}


def test_nothing_is_rounded_before_the_end() -> None:
    settings = Resources((), (made("cpu", {"credit": "1000"}, True), made("memory", {"credit": "0.003"}, True)))
    assert charged(pod_of(container({"cpu": "0.3004", "memory": "200"})), settings=settings) == {"credit": 301}


def test_a_product_beyond_int64_does_not_wrap() -> None:
    settings = Resources((), (made("credit", {"hours": "10000000000"}, True),))
    assert charged(pod_of(container({"credit": "1000000000"})), settings=settings)["hours"] == 10**19 > MAX_INT64


# --- laws

NAMES = ("cpu", "memory", "acme.io/gpu")
quantity = st.sampled_from(["0", "1", "2", "300m", "0.0004", "1500m"])
quantities = st.dictionaries(st.sampled_from(NAMES), quantity, max_size=2)
resources = st.builds(lambda requests, limits: {"requests": requests, "limits": limits}, quantities, quantities)
containers = st.lists(resources.map(lambda one: {"resources": one}), max_size=3)
starters = st.lists(
    st.builds(
        lambda one, always: {"resources": one, "restartPolicy": "Always" if always else None}, resources, st.booleans()
    ),
    max_size=3,
)
pods = st.fixed_dictionaries(
    {"containers": containers, "initContainers": starters},
    optional={"resources": resources, "overhead": quantities, "runtimeClassName": st.just("sandbox")},
)
entries = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["Container", "Pod"]), "default": quantities, "defaultRequest": quantities}
    ),
    max_size=3,
)
outputs = st.dictionaries(st.sampled_from([*NAMES, "credit"]), st.sampled_from(["-2", "0.5", "3"]), max_size=2)
settings_ = st.builds(
    Resources,
    st.lists(st.sampled_from(["acme.io/", "mem"]), max_size=1).map(tuple),
    st.lists(
        st.builds(made, st.sampled_from(NAMES), outputs, st.booleans(), st.sampled_from(["", *NAMES])),
        max_size=3,
        unique_by=lambda one: one.input,
    ).map(tuple),
)


def slowly(pod: Any, items: list[Any], overhead: Quantities, settings: Resources, resource: str) -> int:
    """Units of one resource, spelled out: what `charged` must say."""
    asked: dict[str, Fraction] = {}
    for name in NAMES:
        units = _asked(pod, items, overhead, name)
        if units is not None and not any(name.startswith(prefix) for prefix in settings.exclude_prefixes):
            asked[name] = units
    own, generated = asked.get(resource, Fraction(0)), Fraction(0)
    for one in settings.transformations:
        if one.input in asked:
            times = asked.get(one.multiply_by, Fraction(1))
            generated += asked[one.input] * times * one.outputs.get(resource, Fraction(0))
            if one.input == resource and one.replace:
                own = Fraction(0)
    return ceil((own + max(generated, Fraction(0))) * (1000 if resource == "cpu" else 1))


def _asked(pod: Any, items: list[Any], overhead: Quantities, name: str) -> Fraction | None:
    def request(stated: Any, kind: str) -> Fraction | None:
        fitting = [item for item in items if item["type"] == kind]
        # A default limit is a default request too, within its own entry, where that is for containers.
        defaults = [
            item["defaultRequest"].get(name) or (kind == "Container" and item["default"].get(name)) for item in fitting
        ]
        limits = [item["default"].get(name) for item in fitting]
        for found in (stated["requests"].get(name), *defaults, stated["limits"].get(name), *limits):
            if found:
                return Fraction(found.removesuffix("m")) / (1000 if found.endswith("m") else 1)
        return None

    started = [(request(one["resources"], "Container"), one["restartPolicy"]) for one in pod["initContainers"]]
    running = [request(one["resources"], "Container") for one in pod["containers"]]
    stages = [
        (units, *[beside for beside, policy in started[:at] if policy == "Always"])
        for at, (units, _) in enumerate(started)
    ]
    stages.append((*running, *[units for units, policy in started if policy == "Always"]))
    stated = [[units for units in stage if units is not None] for stage in stages]
    total = max((sum(stage, Fraction(0)) for stage in stated if stage), default=None)
    if "resources" in pod and name in ("cpu", "memory"):
        whole = request(pod["resources"], "Pod")
        total = total if whole is None else whole
    over = pod.get("overhead") or (overhead if pod.get("runtimeClassName") else {})
    if name in over:
        text = over[name]
        total = (total or Fraction(0)) + Fraction(text.removesuffix("m")) / (1000 if text.endswith("m") else 1)
    return total


@given(pods, entries, quantities, settings_)
def test_the_whole_of_it_agrees_with_the_spelled_out_formula(
    pod: Any, items: list[Any], overhead: Quantities, settings: Resources
) -> None:
    within = summarized([read_limit_range({"metadata": {"name": "a"}, "spec": {"limits": items}})]) if items else None
    found = charged(pod, within, settings, overhead)
    for resource in (*NAMES, "credit"):
        assert found.get(resource, 0) == slowly(pod, items, overhead, settings, resource), resource


@given(garbage, garbage, garbage, settings_)
def test_no_garbage_stops_it(pod: Any, item: Any, overhead: Any, settings: Resources) -> None:
    fields = pod if isinstance(pod, dict) else {"containers": [pod], "runtimeClassName": "sandbox"}
    within = summarized([read_limit_range({"spec": {"limits": [item]}}), read_limit_range({"spec": item})])
    assert all(units >= 0 for units in charged(fields, within, settings, overhead).values())


def test_templates_that_say_the_same_of_resources_share_what_is_worked_out() -> None:
    def stated(seed: str) -> PodResources:
        return stated_by(pod_of({**container({"cpu": "1"}), "args": [seed]})).pod

    assert stated("1") is stated("2")


@pytest.mark.parametrize(
    "within", [None, limits([{"max": {"cpu": "8"}, "defaultRequest": {"memory": "0"}}], kind="Pod")]
)
def test_a_workload_that_nothing_applies_to_stays_the_same_value(within: Limits | None) -> None:
    workload = read_workload({"spec": {"podSets": [{"template": {"spec": pod_of(container({"cpu": "1"}))}}]}})
    assert Adjustment(PLAIN).of(workload, within, {}) is workload
