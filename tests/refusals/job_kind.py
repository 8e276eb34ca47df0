"""JobKind, a kind of our own: paths, counts, tests and kinds that cannot be meant. Kueue has no such kind to ask."""

from typing import Any

from tests.refusals.row import ABSENT, Object, create, update

KIND, HELD, SETS, DONE = "spec.kind", "spec.suspend", "spec.podSets", "spec.finished.succeeded"
FIRST = f"{SETS}[0]"


def job_kind(**spec: Any) -> Object:
    sweep = {
        "kind": "Sweep.v1.experiments.example",
        "suspend": {"path": "spec.suspend"},
        "stop": "Suspend",
        "podSets": [{"forEach": "spec.groups", "name": "name", "count": "replicas", "template": "template"}],
        "finished": {"succeeded": {"condition": "Complete"}},
        **spec,
    }
    metadata = {"name": "sweep"}
    return {"apiVersion": "lockgate.dev/v1alpha1", "kind": "JobKind", "metadata": metadata, "spec": sweep}


SWEEP = job_kind()
ONE = job_kind(podSets=[{"name": "main", "count": "spec.replicas", "template": "spec.template"}])
MEANS = "must be a number, a path, {path: …, default: …} or one of"
ENTRY = {"name": "main", "template": "spec.template"}
OTHER = {"name": "other", "template": "spec.other"}
FORM = "must be Kind.version.group, like Sweep.v1.experiments.example"

LENT = {"ref": "spec.runtimeRef", "kind": "Runtime.v1.experiments.example", "path": "spec.template"}


def lent(**fields: Any) -> Object:
    return {"name": "main", "template": {"from": {**LENT, **fields}}}


ROWS = [
    # templates in other objects
    create("a template may lie elsewhere", ONE, FIRST, lent(path="spec.parts[name=node].template"),
           lent(path="spec.parts[*].template"), "must lead to one template: leave out [*]",
           f"{FIRST}.template.from.path", "webhook"),
    create("the kind of that object is one", ONE, FIRST, lent(plural="runtimes"), lent(kind="Runtime"), FORM,
           f"{FIRST}.template.from.kind", "webhook"),
    create("that object is no job of the kind itself", ONE, FIRST, lent(), lent(kind="Sweep.v1.experiments.example"),
           "is the kind of the jobs themselves", f"{FIRST}.template.from.kind", "webhook"),
    create("a job names that object somewhere", ONE, FIRST, lent(), lent(ref=""),
           "the path of what names that object in a job, like", f"{FIRST}.template.from.ref", "webhook"),
    create("by one field", ONE, FIRST, lent(ref="spec.refs[0]"), lent(ref="spec.refs[*]"), "must lead to one field",
           f"{FIRST}.template.from.ref", "webhook"),
    create("its fields are known", ONE, FIRST, lent(), lent(name="a"), "unknown field: known there are ref, kind",
           f"{FIRST}.template.from.name", "webhook"),
    create("a template is a path or from", ONE, FIRST, lent(), {"name": "main", "template": {}},
           "must be a path, or {from: {ref: …, kind: …, path: …}}", f"{FIRST}.template", "webhook"),
    create("nothing is put in by a pod spec", ONE, FIRST, lent(), {**lent(), "podSpec": "spec.pod"},
           "template says where the pods come from already", f"{FIRST}.podSpec", "webhook"),
    create("what holds a job does not name it", ONE, FIRST, lent(), lent(ref="spec.suspend"),
           "says how many or which pods there are, too", "spec.suspend.path", "webhook"),
    # the kind
    create("it has a spec", SWEEP, "spec", SWEEP["spec"], ABSENT, "Required value"),
    create("it names a kind", SWEEP, KIND, "Sweep.v1.experiments.example", ABSENT, "Required value"),
    create("the kind has a version and a group", SWEEP, KIND, "Sweep.v1beta2.x.example", "Sweep", FORM, by="webhook"),
    create("the kind begins with a capital", SWEEP, KIND, "Sweep.v1.x.example", "sweep.v1.x.example", FORM,
           by="webhook"),
    create("the version is one", SWEEP, KIND, "Sweep.v1alpha1.x.example", "Sweep.one.x.example", FORM, by="webhook"),
    create("the group is a domain", SWEEP, KIND, "Sweep.v1.x.example", "Sweep.v1.x..example", FORM, by="webhook"),
    create("the kind can be part of a webhook's name", SWEEP, KIND, f"S{'w' * 61}.v1.x.example",
           f"S{'w' * 62}.v1.x.example", "must have at most 62 characters", by="webhook"),
    create("and so can the group", SWEEP, KIND, f"Sweep.v1.{'x' * 63}.example", f"Sweep.v1.{'x' * 64}.example",
           "must have at most 160 characters, and 63 between dots", by="webhook"),
    create("kinds built in need none", SWEEP, KIND, "Job.v1alpha1.batch.volcano.sh", "Job.v1.batch",
           "Job of batch is built in: it needs no JobKind", by="webhook"),
    create("nor in another version", SWEEP, KIND, "MXJob.v1.kubeflow.org", "JobSet.v1.jobset.x-k8s.io",
           "is built in", by="webhook"),
    create("queues are no jobs", SWEEP, KIND, "Sweep.v1.x.example", "Workload.v1beta2.kueue.x-k8s.io",
           "is no kind of job: name one that makes pods", by="webhook"),
    create("the plural is a resource", SWEEP, "spec.plural", "sweeps", "Sweeps!", "must be the name of a resource",
           by="webhook"),
    update("the kind stays", SWEEP, KIND, "Sweep.v1.experiments.example", "Sweep.v2.experiments.example",
           "field is immutable"),
    update("the plural stays", SWEEP, "spec.plural", ABSENT, "sweepen", "field is immutable", by="webhook"),
    # fields
    create("fields are known", SWEEP, "spec", SWEEP["spec"], {**SWEEP["spec"], "stopp": "Delete"},
           "unknown field: did you mean stop?", "spec.stopp", "webhook"),
    create("fields inside are known", SWEEP, FIRST, {**ENTRY, "count": 1}, {**ENTRY, "cuont": 1},
           "unknown field: did you mean count?", f"{FIRST}.cuont", "webhook"),
    create("ways to stop", SWEEP, "spec.stop", "None", "Kill", 'supported values: "Suspend", "Delete", "None"'),
    # what holds a job
    create("it says what holds a job", SWEEP, HELD, {"path": "spec.suspend"}, ABSENT, "Required value"),
    create("a field or an annotation", SWEEP, HELD, {"annotation": "a.b/c"}, {"path": "spec.a", "annotation": "a.b/c"},
           "exactly one of path and annotation", by="webhook"),
    create("the field's path is one", SWEEP, f"{HELD}.path", "spec.run.suspend", "spec..suspend",
           "is not a path from '..suspend' on: write one as in spec.suspend", by="webhook"),
    create("names may be quoted", SWEEP, f"{HELD}.path", 'metadata.labels["a.b/c"]', "metadata.labels[a.b/c]",
           "is not a path from '[a.b/c]' on", by="webhook"),
    create("the field is one field", SWEEP, f"{HELD}.path", "spec.suspend", "spec.parts[0].suspend",
           "must lead to one field: leave out numbers, [*], [name=…]", by="webhook"),
    create("jobs are held by what their author may set", SWEEP, f"{HELD}.path", "spec.state", "status.state",
           "must lead to a field that the author of a job may set", by="webhook"),
    create("no job is held by its name", SWEEP, f"{HELD}.path", 'metadata.labels["a.b/c"]', "metadata.name",
           "must lead to a field that the author of a job may set", by="webhook"),
    create("nor by what names its queue", SWEEP, f"{HELD}.path", 'metadata.labels["a.b/c"]',
           'metadata.labels["kueue.x-k8s.io/queue-name"]', "must lead to a field that the author of a job may set",
           by="webhook"),
    create("nor by a mark of admission", SWEEP, HELD, {"annotation": "a.b/c"},
           {"annotation": "kueue.x-k8s.io/workload"}, "has a meaning of its own", f"{HELD}.annotation", "webhook"),
    create("the field is not deep", SWEEP, f"{HELD}.path", ".".join("a" * 16), ".".join("a" * 17),
           "is more than 16 fields deep", by="webhook"),
    create("who is held has as many pods", ONE, HELD, {"path": "spec.suspend"}, {"path": "spec.replicas", "held": 0},
           "says how many or which pods there are, too", f"{HELD}.path", "webhook"),
    create("and the same ones", SWEEP, f"{HELD}.path", "spec.suspend", "spec",
           "says how many or which pods there are, too", by="webhook"),
    create("the annotation is one", SWEEP, HELD, {"annotation": "a.b/c"}, {"annotation": "a b"},
           "must be the name of an annotation", f"{HELD}.annotation", "webhook"),
    create("annotations are texts", SWEEP, HELD, {"annotation": "a.b/c", "held": "true"},
           {"annotation": "a.b/c", "held": True, "released": None}, "must be a text, as annotations are",
           f"{HELD}.held", "webhook"),
    create("held and released differ", SWEEP, HELD, {"path": "spec.state", "held": "A", "released": "B"},
           {"path": "spec.state", "held": "A", "released": "A"}, "must differ from held", f"{HELD}.released",
           "webhook"),
    create("held is a plain value", SWEEP, HELD, {"path": "spec.state", "held": 1}, {"path": "spec.state", "held": [1]},
           "must be a text, a number, true, false or null", f"{HELD}.held", "webhook"),
    # pod sets
    create("there are pods", SWEEP, SETS, [ENTRY], [], "should have at least 1 items"),
    create("at most 18 pod sets", SWEEP, SETS, [{"name": f"n{at}", "template": f"spec.n{at}"} for at in range(18)],
           [ENTRY] * 19, "must have at most 18 items"),
    create("pod sets have names", SWEEP, FIRST, ENTRY, {"template": "spec.template"}, "name the pod set",
           f"{FIRST}.name", "webhook"),
    create("names are labels", SWEEP, FIRST, ENTRY, {**ENTRY, "name": "spec.name"}, "must be lower-case letters",
           f"{FIRST}.name", "webhook"),
    create("names differ", SWEEP, SETS, [ENTRY, OTHER], [ENTRY, {**OTHER, "name": "main"}], "Duplicate value",
           f"{SETS}[1].name", "webhook"),
    create("names of entries are paths", SWEEP, f"{FIRST}.name", "metadata.name", "a b", "is not a path",
           by="webhook"),
    create("pods have a template", SWEEP, FIRST, ENTRY, {"name": "main"}, "name the pod template", f"{FIRST}.template",
           "webhook"),
    create("or a spec, or requests", SWEEP, FIRST, {"name": "main", "requests": {"cpu": "spec.cpu"}},
           {**ENTRY, "podSpec": "spec.pod"}, "template says where the pods come from already", f"{FIRST}.podSpec",
           "webhook"),
    create("one template", ONE, f"{FIRST}.template", "spec.template", "spec.templates[*]", "must lead to one field",
           by="webhook"),
    create("each has its own", ONE, SETS, [ENTRY, OTHER],
           [ENTRY, {"name": "other", "template": "spec.template"}],
           "is that of spec.podSets[0]; who starts could not tell them apart", f"{SETS}[1].template", "webhook"),
    create("keys are those of a map", SWEEP, FIRST, {"forEach": "spec.map", "keys": ["a"], "template": "t"},
           {**ENTRY, "keys": ["a"]}, "is for the map of a forEach", f"{FIRST}.keys", "webhook"),
    create("only a template may be missing", SWEEP, FIRST, {**ENTRY, "optional": True},
           {"name": "main", "requests": {"cpu": "1"}, "optional": True}, "needs a template or podSpec",
           f"{FIRST}.optional", "webhook"),
    # counts
    create("a count is a number or a path", ONE, f"{FIRST}.count", 3, 1.5, MEANS, by="webhook"),
    create("or is worked out", ONE, f"{FIRST}.count", {"product": ["spec.a", {"min": [2, "spec.b"]}]},
           {"quotient": ["spec.a", 2]}, MEANS, by="webhook"),
    create("of something", ONE, f"{FIRST}.count", {"sum": ["spec.a"]}, {"sum": []}, "must be a list of 1 to 16",
           f"{FIRST}.count.sum", "webhook"),
    create("of what can be counted", ONE, f"{FIRST}.count", {"sum": [1]}, {"sum": [True]}, MEANS,
           f"{FIRST}.count.sum[0]", "webhook"),
    create("counts are not negative", ONE, f"{FIRST}.count", 0, -1, "must be a number from 0", by="webhook"),
    create("paths inside are paths", ONE, f"{FIRST}.count", {"max": ["spec.a"]}, {"max": ["spec."]}, "is not a path",
           f"{FIRST}.count.max[0]", "webhook"),
    create("defaults are numbers", ONE, f"{FIRST}.count", {"path": "spec.a", "default": 2},
           {"path": "spec.a", "default": "2"}, "must be a number", f"{FIRST}.count.default", "webhook"),
    create("fewer pods are written back to one field", ONE, FIRST, {**ENTRY, "count": "spec.most", "minCount": 1},
           {**ENTRY, "count": {"sum": ["spec.a", 1]}, "minCount": 1}, "needs a count that is the path of one field",
           f"{FIRST}.minCount", "webhook"),
    create("a quantity is one", ONE, f"{FIRST}.requests", {"cpu": "500m"}, {"cpu": "5 cores"}, "must be a quantity",
           f"{FIRST}.requests[cpu]", "webhook"),
    create("or the path of one", ONE, f"{FIRST}.requests", {"cpu": "spec.cpu"}, {"cpu": "spec.*"}, "is not a path",
           f"{FIRST}.requests[cpu]", "webhook"),
    # what the status means
    create("a test names what it asks", SWEEP, DONE, {"condition": "Done"}, {"status": "True"},
           "is asked of a condition, and there is none", f"{DONE}.status", "webhook"),
    create("a condition is not compared", SWEEP, DONE, {"condition": "Done", "reasons": ["A"]},
           {"condition": "Done", "in": ["A"]}, "is asked of a path, not of a condition", f"{DONE}.in", "webhook"),
    create("a value is asked something", SWEEP, DONE, {"path": "status.phase", "in": [1]}, {"path": "status.phase"},
           "exactly one of in, notIn, atLeast and exists", by="webhook"),
    create("a value is asked one thing", SWEEP, DONE, {"path": "status.phase", "exists": True},
           {"path": "status.phase", "exists": True, "in": ["A"]}, "exactly one of in, notIn", f"{DONE}.exists",
           "webhook"),
    create("values are plain", SWEEP, DONE, {"path": "status.phase", "in": ["Done", 1, True]},
           {"path": "status.phase", "in": ["Done", ["Over"]]}, "must be a text, a number, true or false",
           f"{DONE}.in[1]", "webhook"),
    create("only numbers are worked out", SWEEP, DONE, {"path": {"sum": ["status.a"]}, "atLeast": 1},
           {"path": {"sum": ["status.a"]}, "in": [1]}, "must be a path: numbers are for atLeast", f"{DONE}.path",
           "webhook"),
    create("a message is one field", SWEEP, f"{DONE}.message", "status.parts[0].said", "status.parts[*].said",
           "must lead to one field", by="webhook"),
]  # fmt: skip
