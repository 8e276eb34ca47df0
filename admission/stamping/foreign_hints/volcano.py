"""Volcano: annotations of pods and of what owns them, labels that KubeRay hands on, fields of operators' own kinds."""

from admission.model.booleans import is_bool, is_true
from admission.stamping.foreign_hints.alias import Alias, Ecosystem, Meaning, Untranslated
from admission.stamping.foreign_hints.kubeflow import MIN_AVAILABLE, QUEUE


def _boolean(value: str) -> str:
    if not is_bool(value):
        raise ValueError("must be true or false")
    return "true" if is_true(value) else "false"


VOLCANO = Ecosystem(
    "volcano",
    (
        Alias(Meaning.QUEUE, "annotation", "scheduling.volcano.sh/queue-name"),
        Alias(Meaning.QUEUE, "label", "scheduling.volcano.sh/queue-name"),
        Alias(Meaning.QUEUE, "label", "volcano.sh/queue-name"),
        QUEUE,
        Alias(
            Meaning.QUEUE,
            "field",
            "spec.batchSchedulerOptions.queue",
            kinds=("SparkApplication",),
            when=("spec.batchScheduler", "volcano"),
        ),
        Alias(Meaning.PRIORITY, "label", "ray.io/priority-class-name"),
        Alias(
            Meaning.PREEMPTIBLE,
            "annotation",
            "volcano.sh/preemptable",
            through=_boolean,
            explained="`true` or `false`, as Go reads them",
        ),
        Alias(
            Meaning.PREEMPTIBLE,
            "label",
            "volcano.sh/preemptable",
            through=_boolean,
            explained="`true` or `false`, as Go reads them",
        ),
        Alias(Meaning.GANG, "annotation", "scheduling.volcano.sh/group-min-member"),
        MIN_AVAILABLE,
    ),
    (
        Untranslated(
            "annotation", "scheduling.volcano.sh/group-min-resources", "a job waits for what all its pods request"
        ),
    ),
)
