"""`lockgate stamp`: what a job would be on the cluster, which rule made it so, and why the other rules did not."""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from admission.answers import Answer, Request, answer, hooks_for
from admission.answers.stamping import rules_of
from admission.api.documents import Unreadable
from admission.jobs.descriptor import Descriptor
from admission.model.kinds import Ref
from admission.model.names import NAMESPACE_NAME
from admission.stamping.colocation import CannotStamp
from admission.stamping.difference import difference
from admission.stamping.foreign_hints import NAMESPACE_LABEL, named
from admission.stamping.lines import Line, Skipped
from admission.stamping.matching import Subject
from admission.stamping.pipeline import lines_between, stamp_manifest
from admission.world.objects import copied
from admission.world.patches import patched
from admission.world.webhooks import StoredView
from controller.cli import koordinator
from controller.cli.complaint import Complaint
from controller.cli.playing import koordinator_of
from controller.cli.surroundings import LOOKED_AT, Written, read_cluster, read_objects, spelled_out, view_of
from controller.cli.telling import tell

# Their pods are stamped as they are made: these are no jobs.
_OF_PODS = {("apps", kind) for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")}


class Output(StrEnum):
    text = "text"
    json = "json"


@dataclass(slots=True)
class Stamped:
    """What became of one object. `refused`: why it would not be created, or ""."""

    title: str
    file: str
    document: int
    before: dict[str, Any]
    after: dict[str, Any]
    patch: tuple[dict[str, Any], ...] = ()
    lines: list[Line] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    refused: str = ""


def command(
    files: Annotated[list[Path], typer.Option("--filename", "-f", help="Jobs and Pods, as files or folders.")],
    profiles: Annotated[
        list[Path] | None,
        typer.Option(help="Files or folders with JobProfiles and what they need: namespaces, classes, queues."),
    ] = None,
    kubeconfig: Annotated[Path | None, typer.Option(help="Take them from this cluster instead.")] = None,
    as_: Annotated[str, typer.Option("--as", help="Who creates them, as the API server knows people.")] = "",
    as_group: Annotated[list[str] | None, typer.Option(help="A group of theirs; may be given several times.")] = None,
    koordinator_preset: koordinator.Preset = None,
    koordinator_bands: koordinator.Bands = None,
    output: Annotated[Output, typer.Option(help="What to print.")] = Output.text,
) -> None:
    """What jobs get on their way into a cluster: the difference, which rule did what, why others did not match.

    Nothing is written anywhere. Ends with 1 where an object would be refused.
    """
    if (profiles is None) == (kubeconfig is None):
        raise Complaint("name either --profiles with files of JobProfiles or --kubeconfig with a cluster that has them")
    given = read_objects(files)
    around = read_objects(profiles) if profiles is not None else read_cluster(str(kubeconfig))
    # Whoever keeps all in one file names it twice.
    known = [*around, *(one for one in given if one.ref.kind in LOOKED_AT and one.ref not in {o.ref for o in around})]
    known += _assumed(given, known)
    view = view_of(known, koordinator_of(koordinator_preset, koordinator_bands))
    results = [one for each in given for one in _stamped(each, view, as_, tuple(as_group or ()))]
    if not results:
        raise Complaint(f"{', '.join(map(str, files))}: there is no job and no Pod in it; name a file with one")
    if output is Output.json:
        tell(json.dumps({"version": 1, "objects": [_as_json(one) for one in results]}, indent=2))
    else:
        tell("\n".join(_as_text(one) for one in results))
    if any(one.refused for one in results):
        raise typer.Exit(1)


def _assumed(given: list[Written], known: list[Written]) -> Iterator[Written]:
    """Namespaces that no file holds, with the label that every namespace has."""
    there = {one.ref.name for one in known if one.ref.kind == "Namespace"}
    for name in dict.fromkeys(one.ref.namespace for one in given if one.ref.namespace):
        if name not in there:
            print(f"note: no manifest holds Namespace {name}: taken as one without labels", file=sys.stderr)
            metadata = {"name": name, "labels": {NAMESPACE_NAME: name}}
            yield Written({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, "", 1)


def _stamped(one: Written, view: StoredView, user: str, groups: tuple[str, ...]) -> Iterator[Stamped]:
    content, ref = one.content, one.ref
    kind = view.job_kinds.named(str(content["apiVersion"]).rpartition("/")[0], str(content["kind"]))
    title = f"{content['kind']}/{ref.namespace}/{ref.name or content['metadata'].get('generateName')}"
    if (str(content["apiVersion"]).rpartition("/")[0], content["kind"]) in _OF_PODS:
        pod = _pod_of(content, ref)
        yield _one("Pod", None, f"Pods of {title}", one, pod, view, user, groups)
    elif ref.kind == "Pod":
        yield _one("Pod", None, title, one, copied(content), view, user, groups)
    elif kind is not None:
        manifest = {**copied(content), "metadata": {**copied(content["metadata"]), "namespace": ref.namespace}}
        yield _one(kind, view.job_kinds[kind], title, one, manifest, view, user, groups)
    elif ref.kind not in LOOKED_AT:
        print(f"note: skipped {title}: {spelled_out(content)} is no kind of job that is known", file=sys.stderr)


def _pod_of(content: Mapping[str, Any], ref: Ref) -> dict[str, Any]:
    template = (content.get("spec") or {}).get("template") or {}
    metadata = {**(template.get("metadata") or {}), "generateName": f"{ref.name}-", "namespace": ref.namespace}
    pod: dict[str, Any] = copied({"apiVersion": "v1", "kind": "Pod", **template, "metadata": metadata})
    return pod


def _one(
    kind: str,
    descriptor: Descriptor | None,
    title: str,
    source: Written,
    manifest: dict[str, Any],
    view: StoredView,
    user: str,
    groups: tuple[str, ...],
) -> Stamped:
    namespace = manifest["metadata"].get("namespace") or "default"
    request = Request("CREATE", namespace, manifest, username=user, groups=groups)
    labels = view.namespace_labels(namespace) or {}
    subject = Subject(kind, namespace, labels, user, groups)
    result = Stamped(title, source.file, source.document, manifest, copied(manifest))
    systems = named(labels.get(NAMESPACE_LABEL, ""))
    by_rules = copied(manifest)
    try:
        rules = rules_of(request, view, systems, view.job_profiles, telling=True)
        said = stamp_manifest(by_rules, subject, descriptor, rules)
    except (Unreadable, CannotStamp) as error:
        result.refused = str(error)
        return result
    result.lines, result.skipped = list(said.lines), list(dict.fromkeys(said.skipped))
    answers = [answer(hook.path, request, view) for hook in hooks_for(kind, "CREATE") if hook.verb == "mutate"]
    refusal = next((one for one in answers if not one.allowed), None)
    patch = tuple(operation for one in answers for operation in one.patch)
    result.warnings = tuple(warning for one in answers for warning in one.warnings)
    if refusal is None:
        result.after = patched(manifest, patch)
        result.patch = difference(manifest, result.after)
        result.lines += lines_between(by_rules, result.after, "Lockgate")
        refusal = _refusal(kind, result.after, request, view)
    result.refused = refusal.message if refusal is not None else ""
    return result


def _refusal(kind: str, manifest: dict[str, Any], request: Request, view: StoredView) -> Answer | None:
    """What the webhooks that validate would say to it."""
    made = Request("CREATE", request.namespace, manifest, username=request.username, groups=request.groups)
    said = (answer(hook.path, made, view) for hook in hooks_for(kind, "CREATE") if hook.verb == "validate")
    return next((one for one in said if not one.allowed), None)


def _as_json(one: Stamped) -> dict[str, Any]:
    return {
        "object": one.title,
        "file": one.file,
        "document": one.document,
        "refused": one.refused,
        "warnings": list(one.warnings),
        "patch": list(one.patch),
        "stamped": one.after,
        "lines": [line._asdict() for line in one.lines],
        "skipped": [skipped._asdict() for skipped in one.skipped],
    }


def _as_text(one: Stamped) -> str:
    return "\n".join(_text_lines(one))


def _text_lines(one: Stamped) -> Iterator[str]:
    yield f"{one.title} ({one.file}, document {one.document})"
    if one.refused:
        yield f"  refused: {one.refused}"
    elif not one.patch:
        yield "  stays as it is"
    yield from _diff(one)
    for line in one.lines:
        before = "" if line.before is None else f", was {line.before}"
        after = "taken away" if line.after is None else line.after
        yield f"  {line.rule}: {line.field}: {after}{before}"
    for skipped in one.skipped:
        yield f"  {skipped.rule} does not match: {skipped.why}"
    for warning in one.warnings:
        yield f"  warning: {warning}"


def _diff(one: Stamped) -> Iterator[str]:
    before, after = (
        yaml.safe_dump(each, sort_keys=False, width=1000, allow_unicode=True).splitlines()
        for each in (one.before, one.after)
    )
    yield from unified_diff(before, after, one.file, "stamped", lineterm="")
