"""batch/v1 Job: the labels and annotations that the product reads."""

from typing import Any

from tests.refusals.row import ABSENT, Object, Row, Write, create, put, update

P = "kueue.x-k8s.io/"
QUEUE = f"metadata.labels[{P}queue-name]"
CLASS = f"metadata.labels[{P}priority-class]"
LONGEST = f"metadata.labels[{P}max-exec-time-seconds]"
PREBUILT = f"metadata.labels[{P}prebuilt-workload-name]"
PREBUILT_NOTE = f"metadata.annotations[{P}prebuilt-workload-name]"
SMALLER = f"metadata.annotations[{P}job-min-parallelism]"
SYNC = f"metadata.annotations[{P}job-completions-equal-parallelism]"
GATED = f"metadata.annotations[{P}admission-gated-by]"
ELASTIC = f"metadata.annotations[{P}elastic-job]"
NOTES = "spec.template.metadata.annotations"
SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters"


def job(**spec: Any) -> Object:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "default", "labels": {f"{P}queue-name": "main"}},
        "spec": {"suspend": True, "parallelism": 4, "completions": 8, "template": {"spec": pod}, **spec},
    }


JOB = job()
EQUAL = put(job(completionMode="Indexed", completions=4), {SYNC: "true"})


def note(name: str) -> str:
    return f"{NOTES}[{P}podset-{name}]"


def notes(**values: str) -> Object:
    return {f"{P}podset-{name.replace('_', '-')}": value for name, value in values.items()}


def while_it_waits(rule: str, old: Object, at: str, value: object, words: str = "field is immutable") -> Row:
    """The change is fine while the job waits, and only then."""
    runs = put(old, {"spec.suspend": False})
    return Row(rule, Write(put(old, {at: value}), old), Write(put(runs, {at: value}), runs), at, words, "webhook")


def _names() -> list[Row]:
    gated = put(JOB, {GATED: "a.io/b,a.io/c"})
    return [
        create("the queue's name is a subdomain", JOB, QUEUE, "a.b", "No_Name", SUBDOMAIN, by="webhook"),
        create("the prebuilt workload's name is a subdomain", JOB, PREBUILT, "a.b", "No_Name", SUBDOMAIN,
               by="webhook"),
        create("the prebuilt workload's name may be long", JOB, PREBUILT_NOTE, "n" * 253, "n" * 254,
               "must be no more than 253 characters", by="webhook"),
        create("the longest time is a number", JOB, LONGEST, "60", "1m", 'strconv.Atoi: parsing "1m": invalid syntax',
               by="webhook"),
        create("the longest time is positive", JOB, LONGEST, "1", "0", "Invalid value: 0: should be greater than 0",
               by="webhook"),
        create("admission gates are domain and path", JOB, GATED, "a.io/b", "b", "must be a domain-prefixed path",
               by="webhook"),
        create("admission gates differ", JOB, GATED, "a.io/b,a.io/c", "a.io/b,a.io/b", "duplicate gate name: a.io/b",
               by="webhook"),
        update("no admission gate comes later", JOB, GATED, "", "a.io/b",
               "Forbidden: cannot add admission gate after creation", by="webhook"),
        update("admission gates are only removed", gated, GATED, "a.io/b", "a.io/d",
               "Forbidden: can only remove gates, not add new ones", by="webhook"),
    ]  # fmt: skip


def _sizes() -> list[Row]:
    few = put(JOB, {SMALLER: "3"})
    between = "should be between 0 and 3"
    return [
        create("a smaller parallelism is a number", JOB, SMALLER, "2", "two", 'strconv.Atoi: parsing "two"',
               by="webhook"),
        create("a smaller parallelism is positive", JOB, SMALLER, "1", "0", f"Invalid value: 0: {between}",
               by="webhook"),
        create("a smaller parallelism is smaller", JOB, SMALLER, "3", "4", f"Invalid value: 4: {between}",
               by="webhook"),
        create("an elastic job has no smaller parallelism", few, ELASTIC, "false", "true",
               "partial admission and elastic job cannot be used together", SMALLER, "webhook"),
        create("equal completions are yes or no", JOB, SYNC, "false", "maybe",
               'strconv.ParseBool: parsing "maybe": invalid syntax', by="webhook"),
        create("equal completions are of indexed jobs", EQUAL, "spec.completionMode", "Indexed", "NonIndexed",
               "should not be enabled for NonIndexed jobs", SYNC, "webhook"),
        create("equal completions are equal", EQUAL, "spec.completions", 4, 8,
               "should be equal to parallelism when", "spec.completions", "webhook"),
        update("being elastic stays", JOB, ELASTIC, "false", "true", "Invalid value: true: field is immutable",
               by="webhook"),
        while_it_waits("a running job of fewer pods keeps them", few, "spec.parallelism", 3,
                       "Forbidden: cannot change when partial admission is enabled and the job is not suspended"),
        while_it_waits("equal completions stay while the job runs", EQUAL, SYNC, "false",
                       "Forbidden: field is immutable while the job is not suspended"),
    ]  # fmt: skip


def _kept() -> list[Row]:
    ranked = put(JOB, {CLASS: "low"})
    return [
        while_it_waits("a running job stays in its queue", JOB, QUEUE, "other"),
        while_it_waits("a running job does not leave its queue", JOB, QUEUE, ABSENT),
        while_it_waits("a running job keeps its longest time", put(JOB, {LONGEST: "60"}), LONGEST, "90"),
        while_it_waits("a running job keeps its prebuilt workload", put(JOB, {PREBUILT: "a"}), PREBUILT, "b"),
        while_it_waits("a running job gets no first priority class", JOB, CLASS, "high",
                       "WorkloadPriorityClass cannot be added to a non-suspended workload"),
        update("a priority class changes but never goes", ranked, CLASS, "high", ABSENT,
               "WorkloadPriorityClass cannot be removed from a workload", by="webhook"),
    ]  # fmt: skip


def _topology() -> list[Row]:
    def told(rule: str, good: Object, bad: Object, name: str, words: str, **more: Any) -> Row:
        return create(rule, JOB, NOTES, good, bad, words, note(name) if name else NOTES, "webhook", **more)

    layers = "slice-required-topology-constraints"

    def layered(value: str) -> Object:
        return {f"{P}podset-{layers}": value}

    rack, rows, host = '{"topology":"rack","size":%s}', '{"topology":"row","size":4}', '{"topology":"host","size":%s}'
    good = layered(f"[{rows},{rack % 2}]")
    sliced = notes(slice_required_topology="rack", slice_size="2")
    return [
        told("one wish", notes(required_topology="rack"), notes(required_topology="rack", preferred_topology="rack"),
             "", "must not contain more than one topology annotation"),
        *(
            told(f"a {word} topology is a label key", notes(**{f"{word}_topology": "a.b/c"}),
                 notes(**{f"{word}_topology": "a b"}), f"{word}-topology", "name part must consist of alphanumeric")
            for word in ("required", "preferred")
        ),
        told("a slice's topology is a label key", sliced, {**sliced, **notes(slice_required_topology="a b")},
             "slice-required-topology", "name part must consist of alphanumeric"),
        told("being unconstrained is yes or no", notes(unconstrained_topology="false"),
             notes(unconstrained_topology="no"), "unconstrained-topology", "must be a boolean value"),
        told("a group's name is no number", notes(group_name="a1", required_topology="rack"),
             notes(group_name="11", required_topology="rack"), "group-name", "must not be a number"),
        told("a group has a topology", notes(group_name="a", preferred_topology="rack"), notes(group_name="a"),
             "group-name", "Forbidden: may not be set when neither"),
        told("slices have a size", sliced, notes(slice_required_topology="rack"), "slice-size",
             "Required value: must be set when"),
        told("slices have a topology", sliced, notes(slice_size="2"), "slice-size", "Forbidden: may not be set when"),
        told("a slice's size is a number", sliced, {**sliced, **notes(slice_size="two")}, "slice-size",
             "must be a numeric value"),
        told("a slice has a pod at least", sliced, {**sliced, **notes(slice_size="0")}, "slice-size",
             "must be greater than or equal to 1"),
        told("a slice has no more pods than there are", {**sliced, **notes(slice_size="4")},
             {**sliced, **notes(slice_size="5")}, "slice-size", "must not be greater than pod set count 4"),
        told("layers are a list", good, layered("{"), layers, "must be a valid JSON array"),
        told("one to three layers", good, layered("[]"), layers,
             "topology constraints must contain between 1 and 3 entries"),
        create("a layer's topology is a label key", JOB, NOTES, good, layered(f"[{rows.replace('row', 'a b')}]"),
               "name part must consist of alphanumeric", f"{note(layers)}[0].topology", "webhook"),
        create("a layer has a pod at least", JOB, NOTES, good, layered(f"[{rows},{rack % 0}]"),
               "must be greater than or equal to 1", f"{note(layers)}[1].size", "webhook"),
        create("layers differ", JOB, NOTES, good, layered(f"[{rows},{rows}]"), "(also at index 0)",
               f"{note(layers)}[1].topology", "webhook"),
        create("a layer holds whole slices", JOB, NOTES, layered(f"[{rows},{host % 1}]"),
               layered(f"[{rows},{host % 3}]"), "must evenly divide the parent layer size 4",
               f"{note(layers)}[1].size", "webhook"),
        told("a layer has no more pods than there are", good, layered('[{"topology":"row","size":5}]'), layers,
             "Invalid value: 5: must not be greater than pod set count 4"),
        *(
            create(f"an elastic job has no {word} topology", put(JOB, {NOTES: notes(**{f"{word}_topology": "rack"})}),
                   ELASTIC, "false", "true", f"Forbidden: {word} topology is not supported with elastic jobs",
                   f"{NOTES}.{P}podset-{word}-topology", "webhook")
            for word in ("required", "preferred")
        ),
    ]  # fmt: skip


ROWS = [*_names(), *_sizes(), *_kept(), *_topology()]
