"""From a request at a path to its answer: gathers what the rules need, never judges itself."""

from collections.abc import Callable, Mapping

from admission.answers.hooks import BY_PATH
from admission.answers.request import Answer, Request, View
from admission.api.documents import Document, Unreadable
from admission.api.field_errors import FieldError
from admission.stamping.ancestors import NestedTooDeeply
from admission.stamping.finalizer import stamp_finalizer
from admission.stamping.job import DEFAULT_LOCAL_QUEUE, Surroundings, keep_held, stamp_job
from admission.validation.cluster_queue import check_cluster_queue
from admission.validation.cohort import check_cohort
from admission.validation.job import check_job
from admission.validation.resource_flavor import check_resource_flavor
from admission.validation.workload import check_workload

Check = Callable[[Document, Document | None], list[FieldError]]
_CHECKS: Mapping[str, Check] = {
    "ClusterQueue": check_cluster_queue,
    "Cohort": check_cohort,
    "ResourceFlavor": check_resource_flavor,
    "Workload": check_workload,
}


def answer(path: str, request: Request, view: View) -> Answer:
    """Deterministic, without side effects; the same for a dry run. Never raises for what the request contains."""
    hook = BY_PATH.get(path)
    if hook is None:
        return Answer(False, f"no webhook is served at {path}", code=404)
    if request.object is None:  # deletions are never refused
        return Answer()
    try:
        if hook.verb == "mutate":
            return _mutate(hook.kind, request.object, request, view)
        return _validate(hook.kind, request.object, request, view)
    except Unreadable as unreadable:
        return Answer(False, str(unreadable.error), code=400)
    except NestedTooDeeply as error:
        return Answer(False, str(error), code=403)


def _mutate(kind: str, document: Document, request: Request, view: View) -> Answer:
    if kind != "Job":
        return Answer(patch=stamp_finalizer(document)) if request.operation == "CREATE" else Answer()
    around = _surroundings(request, view)
    if request.old_object is not None:
        stamp = keep_held(document, request.old_object, around)
    else:
        stamp = stamp_job(document, around)
    return Answer(patch=stamp.patch, warnings=stamp.warnings)


def _validate(kind: str, document: Document, request: Request, view: View) -> Answer:
    if kind == "Job":
        has_default = view.local_queue(request.namespace, DEFAULT_LOCAL_QUEUE) is not None
        return _refused_if(check_job(document, request.old_object, has_default))
    return _refused_if(_CHECKS[kind](document, request.old_object))


def _surroundings(request: Request, view: View) -> Surroundings:
    labels = view.namespace_labels(request.namespace)
    configuration = view.configuration
    return Surroundings(
        has_default_queue=view.local_queue(request.namespace, DEFAULT_LOCAL_QUEUE) is not None,
        namespace_is_managed=labels is not None and configuration.managed_jobs_namespace_selector.matches(labels),
        manage_without_queue_name=configuration.manage_jobs_without_queue_name,
        owner=lambda api_version, kind, name: view.owner(request.namespace, api_version, kind, name),
    )


def _refused_if(errors: list[FieldError]) -> Answer:
    """All complaints at once, as Kubernetes aggregates them."""
    if not errors:
        return Answer()
    said = list(dict.fromkeys(str(error) for error in errors))
    return Answer(False, said[0] if len(said) == 1 else f"[{', '.join(said)}]", code=403)
