"""KAI Scheduler (and run:ai before it): its pod grouper reads labels of the topmost owner, then of the pod."""

from admission.stamping.foreign_hints.alias import Alias, Ecosystem, Meaning, Untranslated
from admission.stamping.foreign_hints.kubeflow import MIN_AVAILABLE

KAI = Ecosystem(
    "kai",
    (
        Alias(Meaning.QUEUE, "label", "kai.scheduler/queue"),
        Alias(Meaning.QUEUE, "label", "runai/queue"),
        Alias(Meaning.QUEUE, "label", "project", fallback=True),
        Alias(Meaning.PRIORITY, "label", "priorityClassName"),
        Alias(Meaning.PRIORITY, "label", "ray.io/priority-class-name"),
        Alias(
            Meaning.PREEMPTIBLE,
            "label",
            "kai.scheduler/preemptibility",
            words={"preemptible": "true", "non-preemptible": "false"},
        ),
        Alias(Meaning.REQUIRED_TOPOLOGY, "annotation", "kai.scheduler/topology-required-placement"),
        Alias(Meaning.PREFERRED_TOPOLOGY, "annotation", "kai.scheduler/topology-preferred-placement"),
        MIN_AVAILABLE,
    ),
    (
        Untranslated("annotation", "kai.scheduler/topology", "the ResourceFlavor names the Topology"),
        Untranslated("label", "user", "who creates a job is known from the request, not from a label"),
        Untranslated("label", "kai.scheduler/node-pool", "the quota's flavor chooses the nodes"),
    ),
)
