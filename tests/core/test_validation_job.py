"""What is refused about a Job's labels and annotations, when it is made and when it changes."""

from copy import deepcopy
from typing import Any

import pytest

from admission.validation.job import check_job

P = "kueue.x-k8s.io/"
BEYOND = str(2**63)  # of int64
QUEUE = f"metadata.labels[{P}queue-name]"
PRIORITY = f"metadata.labels[{P}priority-class]"
MAX_EXEC = f"metadata.labels[{P}max-exec-time-seconds]"
PREBUILT = f"metadata.labels[{P}prebuilt-workload-name]"
PARALLEL = f"metadata.annotations[{P}job-min-parallelism]"
SYNC = f"metadata.annotations[{P}job-completions-equal-parallelism]"
GATES = f"metadata.annotations[{P}admission-gated-by]"
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def job(suspend: bool = True, annotations: dict[str, str] | None = None, /, **labels: str) -> dict[str, Any]:
    """Label names without prefix, underscores for dashes; a third of its spec is the same in all tests."""
    return {
        "metadata": {
            "labels": {P + name.replace("_", "-"): value for name, value in labels.items()},
            "annotations": {P + name: value for name, value in (annotations or {}).items()},
        },
        "spec": {"suspend": suspend, "parallelism": 4, "completions": 8},
    }


def faults(new: dict[str, Any], old: dict[str, Any] | None = None, *, default_queue: bool = False) -> list[str]:
    return [str(error) for error in check_job(new, old, default_queue)]


@pytest.mark.parametrize(
    "made",
    [
        job(),
        job(queue_name="team-a.eu"),
        job(queue_name="q", priority_class="high", max_exec_time_seconds="1", prebuilt_workload_name="w"),
        job(True, {"job-min-parallelism": "3"}),
        job(True, {"job-completions-equal-parallelism": "false"}),
        job(True, {"admission-gated-by": "acme.io/budget, acme.io/license"}),
        job(True, {"prebuilt-workload-name": "a" * 200}),
        {"metadata": {"name": "bare"}},
    ],
)
def test_a_right_job_is_accepted(made: dict[str, Any]) -> None:
    assert faults(made) == []


@pytest.mark.parametrize(
    ("made", "fault"),
    [
        (job(queue_name="Team_A"), f'{QUEUE}: Invalid value: "Team_A": {SUBDOMAIN}'),
        (job(queue_name=""), f'{QUEUE}: Invalid value: "": {SUBDOMAIN}'),
        (job(prebuilt_workload_name="A"), f'{PREBUILT}: Invalid value: "A": {SUBDOMAIN}'),
        (job(max_exec_time_seconds="0"), f"{MAX_EXEC}: Invalid value: 0: should be greater than 0"),
        (
            job(max_exec_time_seconds="1h"),
            f'{MAX_EXEC}: Invalid value: "1h": strconv.Atoi: parsing "1h": invalid syntax',
        ),
        (
            job(max_exec_time_seconds=BEYOND),
            f'{MAX_EXEC}: Invalid value: "{BEYOND}": strconv.Atoi: parsing "{BEYOND}": value out of range',
        ),
        (job(True, {"job-min-parallelism": "4"}), f"{PARALLEL}: Invalid value: 4: should be between 0 and 3"),
        (job(True, {"job-min-parallelism": "0"}), f"{PARALLEL}: Invalid value: 0: should be between 0 and 3"),
        (
            job(True, {"job-min-parallelism": "x"}),
            f'{PARALLEL}: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax',
        ),
        (
            job(True, {"job-min-parallelism": 'a"b'}),
            f'{PARALLEL}: Invalid value: "a\\"b": strconv.Atoi: parsing "a\\"b": invalid syntax',
        ),
        (
            job(True, {"job-min-parallelism": "9223372036854775807"}),
            f"{PARALLEL}: Invalid value: 9223372036854775807: should be between 0 and 3",
        ),
        (
            job(True, {"job-completions-equal-parallelism": "maybe"}),
            f'{SYNC}: Invalid value: "maybe": strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            job(True, {"admission-gated-by": "acme.io/a,,acme.io/b"}),
            f'{GATES}: Invalid value: "acme.io/a,,acme.io/b": cannot contain empty gate names',
        ),
        (
            job(True, {"admission-gated-by": "acme.io/a,acme.io/a"}),
            f'{GATES}: Invalid value: "acme.io/a,acme.io/a": duplicate gate name: acme.io/a',
        ),
        (
            job(True, {"admission-gated-by": "budget"}),
            f'{GATES}: Invalid value: "budget": must be a domain-prefixed path (such as "acme.io/foo")',
        ),
        (job(True, {"admission-gated-by": "a.io/" + "x" * 59}), f"{GATES}: Too long: may not be more than 63 bytes"),
    ],
)
def test_a_wrong_job_is_refused(made: dict[str, Any], fault: str) -> None:
    assert faults(made) == [fault]


def test_equal_completions_need_an_indexed_job_of_equal_numbers() -> None:
    made = job(True, {"job-completions-equal-parallelism": "true"})
    assert faults(made) == [
        f'{SYNC}: Invalid value: "true": should not be enabled for NonIndexed jobs',
        f"spec.completions: Invalid value: 8: should be equal to parallelism when {SYNC[21:-1]} annotation is true",
    ]
    made["spec"] |= {"completionMode": "Indexed", "completions": 4}
    assert faults(made) == []


HELD, RUNS = True, False


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        pytest.param(job(HELD, queue_name="a"), job(HELD, queue_name="b"), None, id="a held job moves"),
        pytest.param(
            job(RUNS, queue_name="a"),
            job(RUNS, queue_name="b"),
            f'{QUEUE}: Invalid value: "b": field is immutable',
            id="a running job does not move",
        ),
        pytest.param(job(RUNS, queue_name="a"), job(HELD, queue_name="b"), None, id="a job moves while it is stopped"),
        pytest.param(
            job(HELD, queue_name="a"),
            job(RUNS, queue_name="b"),
            f'{QUEUE}: Invalid value: "b": field is immutable',
            id="a job does not move while it is started",
        ),
        pytest.param(job(HELD, queue_name="a"), job(HELD), None, id="a held job leaves its queue"),
        pytest.param(
            job(RUNS, queue_name="a"),
            job(RUNS),
            f'{QUEUE}: Invalid value: "": field is immutable',
            id="a running job does not leave its queue",
        ),
        pytest.param(
            job(HELD, max_exec_time_seconds="5"), job(HELD, max_exec_time_seconds="9"), None, id="held: another limit"
        ),
        pytest.param(
            job(RUNS, max_exec_time_seconds="5"),
            job(HELD, max_exec_time_seconds="9"),
            f'{MAX_EXEC}: Invalid value: "9": field is immutable',
            id="stopping: the limit stays",
        ),
        pytest.param(
            job(RUNS, prebuilt_workload_name="a"),
            job(RUNS, prebuilt_workload_name="b"),
            f'{PREBUILT}: Invalid value: "b": field is immutable',
            id="running: the prebuilt Workload stays",
        ),
        pytest.param(
            job(RUNS, priority_class="a"), job(RUNS, priority_class="b"), None, id="another priority any time"
        ),
        pytest.param(job(HELD), job(HELD, priority_class="a"), None, id="held: a first priority"),
        pytest.param(
            job(RUNS),
            job(RUNS, priority_class="a"),
            f'{PRIORITY}: Invalid value: "a": WorkloadPriorityClass cannot be added to a non-suspended workload',
            id="running: no first priority",
        ),
        pytest.param(
            job(HELD, priority_class="a"),
            job(HELD),
            f'{PRIORITY}: Invalid value: "": WorkloadPriorityClass cannot be removed from a workload',
            id="a priority never goes away",
        ),
        pytest.param(
            job(HELD, {"admission-gated-by": "a.io/x,a.io/y"}),
            job(HELD, {"admission-gated-by": "a.io/y"}),
            None,
            id="a gate is opened",
        ),
        pytest.param(
            job(HELD),
            job(HELD, {"admission-gated-by": "a.io/x"}),
            f"{GATES}: Forbidden: cannot add admission gate after creation",
            id="no gate comes later",
        ),
        pytest.param(
            job(HELD, {"admission-gated-by": "a.io/x"}),
            job(HELD, {"admission-gated-by": "a.io/z"}),
            f"{GATES}: Forbidden: can only remove gates, not add new ones",
            id="no gate is exchanged",
        ),
    ],
)
def test_what_may_change(old: dict[str, Any], new: dict[str, Any], fault: str | None) -> None:
    assert faults(new, old) == ([fault] if fault else [])


def test_a_queue_name_is_not_removed_where_it_would_be_given_again() -> None:
    said = faults(job(HELD), job(HELD, queue_name="a"), default_queue=True)
    assert said == [f'{QUEUE}: Invalid value: "": queue-name must not be empty in namespace with default queue']


def test_a_job_that_is_being_stopped_still_counts_as_running() -> None:
    old, new = (job(HELD, {"stopping": "true"}, queue_name=name) for name in "ab")
    assert faults(new, old) == [f'{QUEUE}: Invalid value: "b": field is immutable']


def test_starting_with_fewer_pods_is_no_mistake_of_its_author() -> None:
    old = job(HELD, {"job-min-parallelism": "3"})
    new = deepcopy(old)
    new["spec"] |= {"suspend": False, "parallelism": 3}
    assert faults(new, old) == []
    again = deepcopy(new)
    again["spec"]["parallelism"] = 4
    said = "spec.parallelism: Forbidden: cannot change when partial admission is enabled and the job is not suspended"
    assert faults(again, new) == [said]


def test_a_job_being_deleted_can_lose_its_finalizers_however_wrong_it_is() -> None:
    dying = job(queue_name="Wrong")
    dying["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert faults(dying, dying) == []
