"""One pod that stands for all pods of an Argo Workflow: with what they need together, and with what holds for each."""

from collections.abc import Mapping, Sequence
from typing import Any

from admission.api.field_errors import OMITTED, invalid
from admission.jobs.min_resources import BadResources, min_resources
from admission.jobs.workflow_requests import Counted, counted
from admission.jobs.workflow_templates import Template, Templates, calls_of, containers_of, places
from admission.model.amounts import text as quantity
from admission.readers.narrow import entries, mapping, strings, text
from admission.readers.pod_set import read_toleration
from admission.readers.pool import Pool

NOT_COUNTED = "lockgate.dev/not-counted"
_LONGEST_NOTE = 1024  # characters: enough for the first few of many notes

# A workflow's status changes with every pod; its spec hardly ever does.
_counted: Pool[Counted] = Pool(1024)


def needed(manifest: Mapping[str, Any]) -> Counted:
    """What its author says, else what its templates tell. Total."""
    try:
        said = min_resources(manifest)
    except BadResources as error:
        return Counted({}, error.error)
    if said is not None:
        return Counted(said)
    spec = mapping(manifest.get("spec"))
    try:
        return _counted.of(spec, lambda: counted(spec))
    except RecursionError:
        return Counted({}, invalid("spec", OMITTED, "nested too deeply to be counted"))


def stand_in(manifest: Mapping[str, Any], needs: Counted) -> dict[str, Any]:
    """A pod template. Total."""
    spec = mapping(manifest.get("spec"))
    requests = {name: quantity(name, units) for name, units in needs.requests.items()}
    pod: dict[str, Any] = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    holders = _in_pods(spec)
    fields: tuple[tuple[str, Any], ...] = (
        ("nodeSelector", _agreed([strings(holder.get("nodeSelector")) for holder in holders])),
        ("tolerations", _tolerated([entries(holder.get("tolerations")) for holder in holders])),
        ("affinity", _same([mapping(holder.get("affinity")) for holder in holders])),
        ("priorityClassName", text(spec.get("podPriorityClassName"))),
        ("schedulerName", text(spec.get("schedulerName"))),
    )
    pod |= {field: value for field, value in fields if value}
    metadata = _metadata(mapping(spec.get("podMetadata")), needs.notes)
    return {"metadata": metadata, "spec": pod} if metadata else {"spec": pod}


def _metadata(stated: Mapping[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in ("labels", "annotations"):
        if values := strings(stated.get(field)):
            found[field] = values
    if notes:
        found["annotations"] = {**found.get("annotations", {}), NOT_COUNTED: "; ".join(notes)[:_LONGEST_NOTE]}
    return found


def _in_pods(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Where each pod gets its node selector, affinity and tolerations from: the first that states any of its template,
    the template that calls it, and the workflow. Each field is taken whole."""
    templates = Templates(spec)
    written = [templates.whole(template) for path, template in places(spec) if path[1] != "templateDefaults"]
    callers = [template for template in written if calls_of(template)]
    found: list[Mapping[str, Any]] = []
    for template in [template for template in written if containers_of(template)] or [{}]:
        found.append(_scheduling([template, spec]))
        found += [_scheduling([template, caller, spec]) for caller in callers if _states(caller)]
    return found


def _states(template: Template) -> bool:
    return any(template.get(field) for field in ("nodeSelector", "affinity", "tolerations"))


def _scheduling(holders: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        field: next((holder[field] for holder in holders if holder.get(field)), None)
        for field in ("nodeSelector", "affinity", "tolerations")
    }


def _agreed(each: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all say alike."""
    first, *others = each
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _tolerated(each: Sequence[Sequence[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """What all tolerate, however they spell it."""
    first, *others = each
    known = [{read_toleration(one) for one in other} for other in others]
    return [one for one in first if all(read_toleration(one) in other for other in known)]


def _same(each: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    first, *others = each
    return first if all(other == first for other in others) else {}
