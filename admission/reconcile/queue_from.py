"""The LocalQueue that a profile gave to a job is made where there is none, from the template that the profile names.

The annotation on the job is believed only while a JobProfile says the same: it could be left from earlier times.
"""

from dataclasses import replace

from admission.model.effects import CreateLocalQueue, EmitEvent
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.reconcile.view import View
from admission.reconcile.wishes import Wishes


def with_queue(view: View, job: Job, wishes: Wishes) -> Wishes:
    """The next step for a job, and before it the queue that it lacks."""
    namespace, name, template = job.ref.namespace, job.queue_name, job.queue_from
    if not template or job.end is not None or view.local_queue(namespace, name) is not None:
        return wishes
    if not view.makes_queue(name, template):
        return wishes
    home = view.configuration.namespace
    if view.local_queue(home, template) is None:
        message = f"LocalQueue {name} is to be made from LocalQueue {home}/{template}, which does not exist: create it"
        event = EmitEvent(job.ref, job.uid, "Warning", "QueueTemplateMissing", message)
        return replace(wishes, events=(*wishes.events, event))
    effect = CreateLocalQueue(Ref("LocalQueue", namespace, name), Ref("LocalQueue", home, template), job.ref)
    return replace(wishes, effects=(effect, *wishes.effects))
