"""What an Argo Workflow needs at most at one time, told by its templates alone.

Steps in one group, and tasks of which none waits for another, may run together; conditions are taken to hold; what a
template creates through the API is not its own.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from admission.api.field_errors import OMITTED, FieldError, invalid, not_found, required
from admission.jobs.min_resources import MIN_RESOURCES
from admission.jobs.places import Path
from admission.jobs.templated import shown
from admission.jobs.workflow_calls import Call, peak_of_steps, peak_of_tasks
from admission.jobs.workflow_items import FIELDS, Items
from admission.jobs.workflow_peak import Peak, beside_each_other, one_after_another
from admission.jobs.workflow_templates import Template, Templates, calls_of, containers_of, type_of
from admission.readers.narrow import entries, mapping, maybe_integer, text
from admission.readers.pod_resources import stated_by

SAY = f"say what the workflow needs at one time in the annotation {MIN_RESOURCES}"
_LIMIT = "set spec.parallelism, or " + SAY

# What a workflow may create as its own without running anything more.
_WITHOUT_PODS = (
    "ConfigMap",
    "Ingress",
    "NetworkPolicy",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
)
_KIND = re.compile(r"^kind:\s*[\"']?([A-Za-z0-9]+)", re.MULTILINE)

_DEEPEST = 50  # templates within templates; Argo itself stops at 100
# Bounds of work, so that no manifest can keep us busy for more than half a second.
_MOST_CALLS = 5_000  # steps, tasks and hooks looked at; those of one template are looked at once
_RESOURCES = 8  # so many of them make what is called as much work as another call
# Of tasks in dags, by resource, that are asked whether they can meet; beyond, all are taken to. Enough for 300 tasks.
_MOST_PAIRS = 300**2 * 3


class Counted(NamedTuple):
    """`problem`: why it cannot be counted. `notes`: what was left out."""

    requests: Mapping[str, int]
    problem: FieldError | None = None
    notes: tuple[str, ...] = ()


def counted(spec: Mapping[str, Any]) -> Counted:
    """Of a workflow's spec. Total."""
    if spec.get("workflowTemplateRef") is not None:
        named = mapping(spec["workflowTemplateRef"]).get("name")
        return Counted({}, invalid("spec.workflowTemplateRef", named, f"templates elsewhere are not read: {SAY}"))
    walk = _Walk(spec)
    try:
        peak = walk.workflow()
    except RecursionError:
        return Counted({}, invalid("spec.templates", OMITTED, f"nested too deeply to be counted: {SAY}"))
    pods = maybe_integer(spec.get("parallelism"))
    if pods is not None and pods > 0:
        peak = peak.most(pods)
    problem = peak.unseen or peak.endless
    return Counted({} if problem else dict(sorted(peak.requests.items())), problem, tuple(dict.fromkeys(walk.notes)))


class _Walk:
    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.notes: list[str] = []
        self._spec = spec
        self._templates = Templates(spec)
        self._known: dict[str, Peak] = {}  # of templates that don't start themselves again
        self._above: list[str] = []  # the templates that we are in
        self._calls_left, self._pairs_left = _MOST_CALLS, _MOST_PAIRS
        self._items = Items(spec)

    def workflow(self) -> Peak:
        self._note_patch(("spec",), self._spec)
        entry = text(self._spec.get("entrypoint"))
        if not entry:
            return Peak(unseen=required("spec.entrypoint", f"name the first template, or {SAY}"))
        main = self._with_hooks(self._named(("spec", "entrypoint"), entry), ("spec",), self._spec)
        # When all is done its daemons are, too.
        return main._replace(staying={})

    # templates

    def _named(self, path: Path, name: str) -> Peak:
        if name in self._known:
            return self._known[name]
        if name in self._above:
            return Peak(again=frozenset({name}))
        found = self._templates.named(name)
        if found is None:
            return Peak(unseen=not_found(shown(path), name))
        if len(self._above) >= _DEEPEST or self._calls_left <= 0:
            why = f"they call each other in too many ways to be counted: {SAY}"
            return Peak(unseen=invalid("spec.templates", OMITTED, why))
        self._above.append(name)
        peak = self._template(*found)
        self._above.pop()
        peak = peak._replace(again=peak.again - {name})
        if not peak.again:
            self._known[name] = peak
        return peak

    def _template(self, path: Path, stated: Template) -> Peak:
        template = self._templates.whole(stated)
        self._note_patch(path, template)
        kind = type_of(template)
        if kind in ("steps", "dag"):
            return self._calls(path, template)._replace(staying={})  # its daemons end with it
        if kind == "resource":
            return Peak(unseen=_owned_pods((*path, "resource"), mapping(template["resource"])))
        containers = containers_of(template)
        if not containers:
            return Peak()
        pod = self._pod(path, template, containers)
        return Peak(pod, pod, pod if template.get("daemon") is True else {})

    def _pod(self, path: Path, template: Template, containers: list[Mapping[str, Any]]) -> Mapping[str, int]:
        stated = stated_by(
            {
                "containers": [*containers, *entries(template.get("sidecars"))],
                "initContainers": entries(template.get("initContainers")),
            }
        )
        self.notes += [f"{shown(path)}{_where(template, fault)}" for fault in stated.pod.faults]
        return stated.requests

    def _note_patch(self, path: Path, holder: Mapping[str, Any]) -> None:
        if holder.get("podSpecPatch"):
            self.notes.append(f"{shown((*path, 'podSpecPatch'))}: what it changes is not counted")

    # calls

    def _calls(self, path: Path, template: Template) -> Peak:
        stated = calls_of(template)
        groups = [[self._call((*path, *way), call) for way, call in group] for group in stated]
        limit = maybe_integer(template.get("parallelism"))
        limit = limit if limit is not None and limit > 0 else None
        if type_of(template) == "steps":
            return peak_of_steps(groups, limit, _grows(path))
        resources = {name for call in groups[0] for name in call.all.requests}
        self._pairs_left -= len(groups[0]) ** 2 * max(len(resources), 3)
        return peak_of_tasks([task for _, task in stated[0]], groups[0], limit, _grows(path), self._pairs_left >= 0)

    def _call(self, path: Path, call: Mapping[str, Any]) -> Call:
        self._calls_left -= 1
        one = self._with_hooks(self._called(path, call), path, call)
        self._calls_left -= len(one.requests) // _RESOURCES
        field = next((field for field in FIELDS if call.get(field) is not None), None)
        if field is None:
            return Call(one, one)
        stated = call[field]
        count = self._items.count(field, stated)
        if one.again and count not in (0, 1):
            one = one.unbounded(_grows(path))
        unknown = f"how many pods it makes is known only while it runs: {_LIMIT}"
        value = stated if isinstance(stated, str) else ""
        return Call(one, one.times(count, invalid(shown((*path, field)), value, unknown)))

    def _called(self, path: Path, call: Mapping[str, Any]) -> Peak:
        if call.get("templateRef") is not None:
            named = mapping(call["templateRef"]).get("name")
            why = invalid(shown((*path, "templateRef")), named, f"templates elsewhere are not read: {SAY}")
            return Peak(unseen=why)
        if call.get("inline") is not None:
            return self._template((*path, "inline"), mapping(call["inline"]))
        return self._named((*path, "template"), text(call.get("template")))

    def _with_hooks(self, main: Peak, path: Path, holder: Mapping[str, Any]) -> Peak:
        """A hook on the exit comes after; any other one runs beside."""
        after, beside = [], [main]
        if name := text(holder.get("onExit")):
            after.append(self._named((*path, "onExit"), name))
        for name, hook in mapping(holder.get("hooks")).items():
            self._calls_left -= 1
            called = self._called((*path, "hooks", name), mapping(hook))
            (after if name == "exit" else beside).append(called)
        if not after and len(beside) == 1:
            return main
        return one_after_another([beside_each_other(beside, _grows(path)), *after])


def _owned_pods(path: Path, resource: Mapping[str, Any]) -> FieldError | None:
    """What a template creates is queued for itself, unless it is made the workflow's own: then it comes and goes with
    the workflow, and so would its pods."""
    if resource.get("setOwnerReference") is not True or resource.get("action") not in ("create", "apply", "replace"):
        return None
    kind = _KIND.search(text(resource.get("manifest")))
    if kind is not None and kind[1] in _WITHOUT_PODS:
        return None
    why = f"what belongs to the workflow is not queued for itself: leave it away, or {SAY}"
    return invalid(shown((*path, "setOwnerReference")), True, why)


def _where(template: Template, fault: str) -> str:
    """The fault of a pod's container, told of the template's field that it comes from."""
    kind, main = type_of(template), len(containers_of(template))
    found = re.match(r"\.containers\[([0-9]+)\]", fault)
    if found is None:
        return fault
    at = int(found[1])
    field = (
        f".sidecars[{at - main}]"
        if at >= main
        else f".containerSet{found[0]}"
        if kind == "containerSet"
        else f".{kind}"
    )
    return field + fault[found.end() :]


def _grows(path: Path) -> FieldError:
    return invalid(shown(path), OMITTED, f"it starts itself again beside pods that still run, without end: {_LIMIT}")
