"""Koord-Queue (kube-queue before it) and Koordinator's gangs: quota by label, queue by annotation.

They are resolved one by one there; here a quota's LocalQueue has the quota's name, and counts where no queue is named.
"""

from admission.stamping.foreign_hints.alias import Alias, Ecosystem, Meaning, Untranslated

_GANG = "gang.scheduling.koordinator.sh/"

KOORD_QUEUE = Ecosystem(
    "koord-queue",
    (
        Alias(Meaning.QUEUE, "annotation", "koord-queue/queue-name"),
        Alias(Meaning.QUEUE, "annotation", "kube-queue/queue-name"),
        Alias(Meaning.QUEUE, "label", "quota.scheduling.alibabacloud.com/name", fallback=True),
        Alias(Meaning.QUEUE, "label", "quota.scheduling.koordinator.sh/name", fallback=True),
        Alias(
            Meaning.PREEMPTIBLE,
            "label",
            "quota.scheduling.koordinator.sh/preemptible",
            through=lambda value: "false" if value == "false" else "true",
            explained="`false`; all else is `true`",
        ),
        Alias(Meaning.GANG, "annotation", _GANG + "min-available"),
        Alias(Meaning.GANG, "label", "pod-group.scheduling.sigs.k8s.io/min-available"),
    ),
    (
        Untranslated("annotation", "scheduling.x-k8s.io/priority", "priorities are named by a class, not by a number"),
        Untranslated("annotation", _GANG + "network-topology-spec", "its layers are no labels of nodes"),
        Untranslated("annotation", _GANG + "groups", "each job is admitted by itself"),
        Untranslated(
            "annotation", "scheduling.x-k8s.io/suspend", "Koord-Queue must not hold what is held here: take it away"
        ),
    ),
)
