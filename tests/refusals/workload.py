"""Workload: its spec and annotations."""

from typing import Any

from tests.refusals.objects import (
    DECODED,
    LONG_NAME,
    NO_NAME,
    NOT_A_NAME,
    WORKLOAD,
    container,
    names,
    pod_set,
    workload,
)
from tests.refusals.row import ABSENT, Row, create, put, update

PODS = "spec.podSets"
FIRST = f"{PODS}[0]"
TEMPLATE = f"{FIRST}.template"
TOPOLOGY = f"{FIRST}.topologyRequest"
LAYERS = f"{TOPOLOGY}.podsetSliceRequiredTopologyConstraints"
CLASS = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
POD_CLASS = {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"}
GATED = "metadata.annotations[kueue.x-k8s.io/admission-gated-by]"
ELASTIC = "metadata.annotations[kueue.x-k8s.io/elastic-job]"
RANKED = workload(priority=5, priorityClassRef=CLASS)


def _spec() -> list[Row]:
    sets = [pod_set(name) for name in names(19)]
    return [
        create("there are pod sets", WORKLOAD, PODS, [pod_set()], [], "should have at least 1 items"),
        create("at most 18 pod sets", WORKLOAD, PODS, sets[:18], sets, "must have at most 18 items"),
        create("pod sets differ", WORKLOAD, PODS, sets[:2], [sets[0]] * 2, 'Duplicate value: {"name":"n0"}',
               f"{PODS}[1]"),
        create("a pod set's name is a label", WORKLOAD, f"{FIRST}.name", "a-b", "a.b", NOT_A_NAME),
        create("a pod set's name has at most 63 characters", WORKLOAD, f"{FIRST}.name", "n" * 63, "n" * 64,
               "Too long: may not be more than 63 bytes"),
        create("a pod set has a template", WORKLOAD, FIRST, pod_set(), {"count": 1}, "Required value", TEMPLATE),
        create("a count is not negative", WORKLOAD, f"{FIRST}.count", 0, -1, "should be greater than or equal to 0"),
        create("a count is a number", WORKLOAD, f"{FIRST}.count", 2, "2", "must be of type integer", kueue=DECODED),
        create("a count has 32 bits", WORKLOAD, f"{FIRST}.count", 2**31 - 1, 2**31,
               "should be less than or equal to 2147483647",
               kueue=DECODED),
        create("a smaller count is at least one", WORKLOAD, f"{FIRST}.minCount", 1, 0,
               "should be greater than or equal to 1"),
        create("a smaller count is not larger", WORKLOAD, f"{FIRST}.minCount", 3, 4,
               "minCount should be positive and less or equal to count", FIRST),
        create("one pod set may be smaller", WORKLOAD, PODS, [pod_set("a", minCount=1), pod_set("b")],
               [pod_set("a", minCount=1), pod_set("b", minCount=1)],
               "Invalid value: 2: at most one podSet can use minCount", by="webhook"),
        create("an elastic workload has no smaller count", put(WORKLOAD, {f"{FIRST}.minCount": 1}), ELASTIC, "false",
               "true", "Invalid value: 1: partial admission and elastic job cannot be used together", PODS, "webhook"),
        create("the queue's name is a subdomain", WORKLOAD, "spec.queueName", "a.b", NO_NAME, NOT_A_NAME),
        create("the queue's name has at most 253 characters", WORKLOAD, "spec.queueName", "n" * 253, LONG_NAME,
               "Too long: may not be more than 253 bytes"),
        create("being active is yes or no", WORKLOAD, "spec.active", False, "no", "must be of type boolean",
               kueue=DECODED),
        create("a longest time is at least a second", WORKLOAD, "spec.maximumExecutionTimeSeconds", 1, 0,
               "should be greater than or equal to 1"),
        create("a priority is a number", WORKLOAD, "spec.priority", -1, "high", "must be of type integer",
               kueue=DECODED),
    ]  # fmt: skip


def _priority() -> list[Row]:
    at = "spec.priorityClassRef"
    return [
        create("a class comes with its priority", RANKED, "spec.priority", 5, ABSENT,
               "priority should not be nil when priorityClassRef is set", "spec"),
        create("groups of classes", RANKED, f"{at}.group", CLASS["group"], "example.com",
               'Unsupported value: "example.com"'),
        create("kinds of classes", RANKED, f"{at}.kind", CLASS["kind"], "Rank", 'Unsupported value: "Rank"'),
        create("a class has a name", RANKED, f"{at}.name", "a", ABSENT, "Required value"),
        create("a class's name is not empty", RANKED, f"{at}.name", "a", "", "Invalid value"),
        create("a class's name is a subdomain", RANKED, f"{at}.name", "a.b", NO_NAME, NOT_A_NAME),
        create("a class's name has at most 253 characters", RANKED, f"{at}.name", "n" * 253, LONG_NAME,
               "Too long: may not be more than 253 bytes"),
        create("Kueue's group has WorkloadPriorityClasses", RANKED, f"{at}.kind", CLASS["kind"], POD_CLASS["kind"],
               "only the WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group", at),
        create("Kubernetes' group has PriorityClasses", put(RANKED, {at: POD_CLASS}), f"{at}.kind", POD_CLASS["kind"],
               CLASS["kind"], "only the PriorityClass kind is allowed for the scheduling.k8s.io group", at),
    ]  # fmt: skip


def _preemption_gates() -> list[Row]:
    at = "spec.preemptionGates"
    gates = [{"name": name} for name in names(9)]
    return [
        create("at most 8 preemption gates", WORKLOAD, at, gates[:8], gates, "must have at most 8 items"),
        create("preemption gates differ", WORKLOAD, at, gates[:2], gates[:1] * 2, 'Duplicate value: {"name":"n0"}',
               f"{at}[1]"),
        create("a preemption gate has a name", WORKLOAD, at, gates[:1], [{"name": ""}], "should be at least 1 chars",
               f"{at}[0].name"),
        create("a preemption gate's name has at most 63 characters", WORKLOAD, at, [{"name": "n" * 63}],
               [{"name": "n" * 64}], "Too long: may not be more than 63 bytes", f"{at}[0].name"),
    ]  # fmt: skip


def _template() -> list[Row]:
    spec = f"{TEMPLATE}.spec"
    requests = f"{spec}.containers[0].resources.requests"
    held = "the key is reserved for internal kueue use"
    negative = 'Invalid value: "-1": must be greater than or equal to 0'
    return [
        create("a pod's label is a label key", WORKLOAD, f"{TEMPLATE}.metadata.labels", {"a.b/c": "d"}, {"a b": "d"},
               "name part must consist of alphanumeric", by="webhook"),
        create("a pod's label has a label value", WORKLOAD, f"{TEMPLATE}.metadata.labels", {"a": "b"}, {"a": "b c"},
               "a valid label must be an empty string or consist of alphanumeric", by="webhook"),
        create("a pod's annotation is a label key", WORKLOAD, f"{TEMPLATE}.metadata.annotations", {"A.b/c": "d e"},
               {"a b": "d"}, "name part must consist of alphanumeric", by="webhook"),
        create("a pod's annotations have at most 256 KiB", WORKLOAD, f"{TEMPLATE}.metadata.annotations",
               {"a": "d" * (2**18 - 1)}, {"a": "d" * 2**18}, "Too long: may not be more than 262144 bytes",
               by="webhook"),
        create("a request is not negative", WORKLOAD, requests, {"cpu": 0}, {"cpu": "-1"}, negative,
               f"{requests}[cpu]", "webhook"),
        create("a limit is not negative", WORKLOAD, f"{spec}.containers[0].resources.limits", {"cpu": "1"},
               {"cpu": "-1"}, negative, f"{spec}.containers[0].resources.limits[cpu]", "webhook"),
        create("an init container's request is not negative", WORKLOAD, f"{spec}.initContainers",
               [container(requests={"cpu": "1"})], [container(requests={"cpu": "-1"})], negative,
               f"{spec}.initContainers[0].resources.requests[cpu]", "webhook"),
        create("a pod's request is not negative", WORKLOAD, f"{spec}.resources", {"requests": {"cpu": "1"}},
               {"requests": {"cpu": "-1"}}, negative, f"{spec}.resources.requests[cpu]", "webhook"),
        create("nobody requests pods", WORKLOAD, requests, {"example.com/pods": 1}, {"pods": 1}, held,
               f"{requests}[pods]", "webhook"),
        create("nobody is limited to pods", WORKLOAD, f"{spec}.containers[0].resources.limits", {"cpu": 1},
               {"pods": 1}, held, f"{spec}.containers[0].resources.limits[pods]", "webhook"),
        create("no pod requests pods", WORKLOAD, f"{spec}.resources", {"requests": {"cpu": "1"}},
               {"requests": {"pods": "1"}}, held, f"{spec}.resources.requests[pods]", "webhook"),
    ]  # fmt: skip


def _topology() -> list[Row]:
    def long(field: str, most: int) -> Row:
        return create(f"{field} has at most {most} characters", WORKLOAD, f"{TOPOLOGY}.{field}", "n" * most,
                      "n" * (most + 1), f"Too long: may not be more than {most} bytes")  # fmt: skip

    sliced: dict[str, Any] = {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 1}
    layer = {"topology": "rack", "size": 1}
    size = f"{TOPOLOGY}.podSetSliceSize"
    return [
        *(
            long(field, most)
            for field, most in (
                ("required", 63),
                ("preferred", 63),
                ("podIndexLabel", 317),
                ("subGroupIndexLabel", 317),
                ("podSetGroupName", 256),
            )
        ),
        create("the slice's topology has at most 63 characters", WORKLOAD, TOPOLOGY,
               {**sliced, "podSetSliceRequiredTopology": "n" * 63},
               {**sliced, "podSetSliceRequiredTopology": "n" * 64}, "Too long: may not be more than 63 bytes",
               f"{TOPOLOGY}.podSetSliceRequiredTopology"),
        create("being unconstrained is yes or no", WORKLOAD, f"{TOPOLOGY}.unconstrained", True, "yes",
               "must be of type boolean", kueue=DECODED),
        create("a number of groups is a number", WORKLOAD, f"{TOPOLOGY}.subGroupCount", -1, "1",
               "must be of type integer", kueue=DECODED),
        create("slices have a size", WORKLOAD, TOPOLOGY, sliced, {"podSetSliceRequiredTopology": "rack"},
               "Required value: must be set when podSetSliceRequiredTopology is specified", size, "webhook"),
        create("slices have a topology", WORKLOAD, TOPOLOGY, sliced, {"podSetSliceSize": 1},
               "Forbidden: may not be set when podSetSliceRequiredTopology is not specified", size, "webhook"),
        create("slices have a pod at least", WORKLOAD, TOPOLOGY, sliced, {**sliced, "podSetSliceSize": 0},
               "Invalid value: 0: must be greater than 0", size, "webhook"),
        create("at most 3 layers", WORKLOAD, LAYERS, [layer] * 3, [layer] * 4, "must have at most 3 items"),
        create("a layer has a topology", WORKLOAD, LAYERS, [layer], [{"size": 1}], "Required value",
               f"{LAYERS}[0].topology"),
        create("a layer's topology is not empty", WORKLOAD, LAYERS, [layer], [{"topology": "", "size": 1}],
               "Invalid value", f"{LAYERS}[0].topology"),
        create("a layer's topology has at most 63 characters", WORKLOAD, LAYERS, [{"topology": "n" * 63, "size": 1}],
               [{"topology": "n" * 64, "size": 1}], "Too long: may not be more than 63 bytes",
               f"{LAYERS}[0].topology"),
        create("a layer has a size", WORKLOAD, LAYERS, [layer], [{"topology": "rack"}], "Required value",
               f"{LAYERS}[0].size"),
        create("a layer has a pod at least", WORKLOAD, LAYERS, [layer], [{"topology": "rack", "size": 0}],
               "should be greater than or equal to 1", f"{LAYERS}[0].size"),
    ]  # fmt: skip


def _gates() -> list[Row]:
    gated = put(WORKLOAD, {GATED: "a.io/b,a.io/c"})
    return [
        create("admission gates are domain and path", WORKLOAD, GATED, "a.io/b", "b",
               'Invalid value: "b": must be a domain-prefixed path (such as "acme.io/foo")', by="webhook"),
        create("admission gates are not empty", WORKLOAD, GATED, "a.io/b, a.io/c", "a.io/b,,a.io/c",
               "cannot contain empty gate names", by="webhook"),
        create("admission gates differ", WORKLOAD, GATED, "a.io/b,a.io/c", "a.io/b,a.io/b",
               "duplicate gate name: a.io/b", by="webhook"),
        create("an admission gate has at most 63 characters", WORKLOAD, GATED, "a.io/" + "b" * 58, "a.io/" + "b" * 59,
               "Too long: may not be more than 63 bytes", by="webhook"),
        create("an admission gate's domain is a subdomain", WORKLOAD, GATED, "a.io/b", "a_io/b",
               "a lowercase RFC 1123 subdomain must consist of", by="webhook"),
        create("an admission gate's path is one", WORKLOAD, GATED, "a.io/b/c", "a.io/b c", "Invalid path",
               by="webhook"),
        update("no admission gate comes later", WORKLOAD, GATED, "", "a.io/b",
               "Forbidden: cannot add admission gate after creation", by="webhook"),
        update("admission gates are only removed", gated, GATED, "a.io/c", "a.io/d",
               "Forbidden: can only remove gates, not add new ones", by="webhook"),
    ]  # fmt: skip


ROWS = [*_spec(), *_priority(), *_preemption_gates(), *_template(), *_topology(), *_gates()]
