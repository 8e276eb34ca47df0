"""JobProfile objects: what the core keeps of one, and what is refused with which words."""

from typing import Any

import pytest

from admission.answers import Request, answer
from admission.model.job_profile import Glob
from admission.readers.job_profile import profile_errors, read_job_profile
from tests.core.test_stamping import Cluster


def profile(name: str = "etl", **spec: Any) -> dict[str, Any]:
    """With something to stamp, unless that is said otherwise."""
    spec = {"stamp": {"queue": {"name": "etl"}}, **spec}
    return {"apiVersion": "lockgate.dev/v1alpha1", "kind": "JobProfile", "metadata": {"name": name}, "spec": spec}


WHOLE = profile(
    order=100,
    match={
        "kinds": ["SparkApplication.sparkoperator.k8s.io", "Job.batch"],
        "namespaceSelector": {"matchLabels": {"tenant": "etl"}},
        "objectSelector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["prod"]}]},
        "users": ["oidc:*@data.example"],
        "groups": ["data-engineers"],
    },
    percent=25,
    stamp={
        "queue": {"name": "etl", "create": {"fromTemplate": "etl-default"}},
        "workloadPriorityClass": "batch-low",
        "priorityClassName": "koord-batch",
        "qosClass": "BE",
        "koordinatorPriority": 5500,
        "schedulerName": "koord-scheduler",
        "labels": {"cost-center": "42"},
        "annotations": {},
        "resources": "TranslateToClass",
    },
    overwrite={"default": "IfUnset", "qosClass": "Always"},
    targets=["Job", "PodTemplates"],
)


def test_all_that_a_profile_can_say_is_read() -> None:
    assert profile_errors(WHOLE) == []
    read = read_job_profile(WHOLE)
    assert read.problem == ""
    assert (read.order, read.percent, read.stamp.queue_template, read.stamp.translate) == (100, 25, "etl-default", True)
    assert (read.overwrites("qosClass"), read.overwrites("labels")) == ("Always", "IfUnset")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"percnt": 5}, "spec.percnt: Forbidden: unknown field: did you mean percent?"),
        (
            {"percent": 101},
            "spec.percent: Invalid value: 101: spec.percent in body should be less than or equal to 100",
        ),
        (
            {"match": {"kinds": ["Job"]}},
            'spec.match.kinds[0]: Invalid value: "Job": must be Kind.group: write Job.batch',
        ),
        (
            {"match": {"kinds": ["Job.v1.batch"]}},
            'spec.match.kinds[0]: Invalid value: "Job.v1.batch": must be Kind.group, whatever the version: write Job.',
        ),
        (
            {"match": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}},
            "spec.match.namespaceSelector.matchExpressions[0].values: Required value: In compares with values: give",
        ),
        (
            {"match": {"objectSelector": {"matchLabels": {"a b": "c"}}}},
            'spec.match.objectSelector.matchLabels: Invalid value: "a b": must be a name, like tier or example.com/',
        ),
        ({"match": {"users": [""]}}, "spec.match.users[0]"),
        (
            {"stamp": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}},
            "spec.stamp.labels[kueue.x-k8s.io/queue-name]: Forbidden: has a field of its own: say it by spec.stamp.q",
        ),
        (
            {"stamp": {"annotations": {"lockgate.dev/rollout": "1"}}},
            "spec.stamp.annotations[lockgate.dev/rollout]: Forbidden: has a meaning of its own, which no profile can",
        ),
        ({"stamp": {"qosClass": "XX"}}, 'spec.stamp.qosClass: Unsupported value: "XX": supported values: "LSE"'),
        ({"stamp": {}}, "spec.stamp: Required value: say what jobs get: queue,"),
        (
            {"overwrite": "Sometimes"},
            'spec.overwrite: Unsupported value: "Sometimes": supported values: "Never", "IfUnset", "Always"',
        ),
        (
            {"overwrite": {"qosclass": "Always"}},
            "spec.overwrite.qosclass: Forbidden: unknown field: did you mean qosClass?",
        ),
        ({"overwrite": 5}, "spec.overwrite: Invalid value: 5: must be one of Never, IfUnset, Always, or a map"),
        ({"stamp": {"priorityClassName": "Not_A_Name"}}, "spec.stamp.priorityClassName: Invalid value"),
    ],
)
def test_a_wrong_profile_is_refused_by_field_value_and_remedy(spec: dict[str, Any], said: str) -> None:
    request = Request("CREATE", "", profile(**spec))
    answered = answer("/validate-lockgate-dev-v1alpha1-jobprofile", request, Cluster())
    assert not answered.allowed
    assert answered.message.startswith(said), answered.message
    assert read_job_profile(profile(**spec)).problem


def test_a_star_in_a_name_stands_for_any_characters_and_nothing_else_does() -> None:
    assert Glob("oidc:*@data.example").matches("oidc:ada@data.example")
    assert not Glob("oidc:*@data.example").matches("oidc:ada@data.example.evil")
    assert Glob("*").matches("")
    assert Glob("a*b*c").matches("a-b-b-c")
    assert not Glob("a*a").matches("a")
    assert not Glob("a.c").matches("abc")
