"""What a new object would meet in a cluster, from files or from a cluster: profiles, classes, namespaces, queues.

Read as the webhooks would know it, so that a command and a cluster answer alike.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import msgspec

from admission.api.documents import Unreadable
from admission.api.field_errors import FieldError
from admission.jobs.described import described
from admission.model.configuration import DEFAULTS
from admission.model.kinds import KINDS, Ref
from admission.model.qos import Koordinator
from admission.readers.colocation_profile import read_colocation_profile
from admission.readers.job_kind import read_job_kind, read_rules
from admission.readers.job_profile import profile_errors
from admission.world.webhooks import StoredView
from controller.cli.complaint import Complaint
from controller.cli.manifests import BadManifests, Problem, text_of
from controller.kit.documents import BadDocument, read_json, read_yaml

# What webhooks look at.
LOOKED_AT = (
    "Namespace",
    "LocalQueue",
    "JobKind",
    "JobProfile",
    "ClusterColocationProfile",
    "PriorityClass",
    "WorkloadPriorityClass",
    "QueuePolicy",
    "ElasticQuota",
)
_SUFFIXES = (".yaml", ".yml", ".json")


class Written(NamedTuple):
    """One object and where it was written."""

    content: dict[str, Any]
    file: str
    document: int

    @property
    def ref(self) -> Ref:
        """As `Ref.kind` names the kinds that are known, else the bare kind."""
        metadata = self.content["metadata"]
        kind = _known(self.content) or str(self.content["kind"])
        cluster_wide = kind in KINDS and not KINDS[kind].namespaced
        namespace = "" if cluster_wide else metadata.get("namespace") or "default"
        return Ref(kind, namespace, metadata.get("name") or "")


def read_objects(paths: Sequence[FilePath]) -> list[Written]:
    """Everything below the paths, of whatever kind. Raises BadManifests, Complaint."""
    found, problems = list[Written](), list[Problem]()
    for file in _files(paths):
        text = text_of(file)
        try:
            documents = list((read_json if file.suffix.lower() == ".json" else read_yaml)(text))
        except BadDocument as bad:
            problem, _, remedy = str(bad).rpartition("; ")
            raise BadManifests([Problem(str(file), bad.document, bad.line, "", problem, remedy)]) from bad
        for document in documents:
            for content in _unfolded(document.content):
                problem_found = _unusable(content)
                if problem_found:
                    problems.append(Problem(str(file), document.number, document.line, *problem_found))
                else:
                    found.append(Written(content, str(file), document.number))
    if problems:
        raise BadManifests(problems)
    return found


def view_of(objects: Iterable[Written], koordinator: Koordinator = DEFAULTS.koordinator) -> StoredView:
    """What webhooks would see. Raises BadManifests for profiles and kinds that they would refuse."""
    table: dict[str, dict[Ref, dict[str, Any]]] = {}
    problems: list[Problem] = []
    for one in objects:
        problems += (Problem(one.file, one.document, None, error.path, error.body, "mend it") for error in _errors(one))
        table.setdefault(one.ref.kind, {})[one.ref] = one.content
    if problems:
        raise BadManifests(problems)
    view = StoredView(
        replace(DEFAULTS, koordinator=koordinator),
        lambda ref: table.get(ref.kind, {}).get(ref),
        lambda kind: table.get(kind, {}).values(),
    )
    for content in table.get("JobKind", {}).values():
        job_kind = read_job_kind(content)
        if job_kind.rules is not None:
            view.job_kinds.describe(job_kind.name, job_kind.kind, described(job_kind.kind, job_kind.rules))
    return view


def read_cluster(kubeconfig: str) -> list[Written]:
    """What a cluster has of it. Kinds that it does not serve, or does not let us see, it has none of."""
    return asyncio.run(_listed(kubeconfig))


async def _listed(kubeconfig: str) -> list[Written]:
    from controller.kube.client import Client
    from controller.kube.errors import ApiError, Forbidden, NotFound

    found = []
    try:
        async with await Client.connect(kubeconfig) as client:
            for kind in LOOKED_AT:
                try:
                    answer = msgspec.json.decode(await client.call("GET", KINDS[kind].path()))
                except (NotFound, Forbidden):
                    continue
                head = {"apiVersion": KINDS[kind].api_version, "kind": kind}
                found += [Written({**head, **item}, kubeconfig, 1) for item in answer.get("items") or ()]
    except ApiError as error:
        raise Complaint(f"--kubeconfig: {error}") from error
    return found


def _errors(one: Written) -> Sequence[FieldError]:
    check: Callable[[Mapping[str, Any]], Sequence[FieldError]]
    match one.ref.kind:
        case "JobProfile":
            check = profile_errors
        case "JobKind":
            check = lambda wire: read_rules(wire)[1]  # noqa: E731
        case "ClusterColocationProfile":
            problem = read_colocation_profile(one.content).problem
            return [FieldError("", "Invalid value", "", problem)] if problem else []
        case _:
            return []
    try:
        return check(one.content)
    except Unreadable as error:
        return [error.error]


def _known(content: Mapping[str, Any]) -> str | None:
    """The kind as `Ref.kind` has it, if it is one that is known: of the right group, in any version."""
    kind, version = str(content.get("kind")), str(content.get("apiVersion"))
    group = version.rpartition("/")[0]
    return kind if kind in KINDS and KINDS[kind].group == group else None


def spelled_out(content: Mapping[str, Any]) -> str:
    """The kind of an object as JobKinds name it: Kind.version.group."""
    group, _, version = str(content.get("apiVersion")).rpartition("/")
    return f"{content.get('kind')}.{version}.{group}"


def _files(paths: Sequence[FilePath]) -> Iterator[FilePath]:
    for path in paths:
        if not path.exists():
            raise Complaint(f"{path}: there is no such file or folder; check the path")
        if not path.is_dir():
            yield path
            continue
        found = sorted(file for file in path.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
        if not found:
            raise Complaint(f"{path}: the folder has no manifests; name one with {', '.join(_SUFFIXES)} files")
        yield from found


def _unfolded(content: Any) -> Iterator[Any]:
    """The objects of a document: itself, or the entries of a List."""
    kind = content.get("kind") if isinstance(content, dict) else None
    if isinstance(kind, str) and kind.endswith("List") and isinstance(content.get("items"), list):
        for item in content["items"]:
            yield from _unfolded(item)
    elif content is not None:
        yield content


def _unusable(content: Any) -> tuple[str, str, str] | None:
    """Field, problem and remedy of what is no object of Kubernetes at all."""
    if not isinstance(content, dict):
        return "", "is not an object", "write a map with apiVersion, kind and metadata"
    for name in ("apiVersion", "kind"):
        if not isinstance(content.get(name), str):
            problem = "is missing" if content.get(name) is None else "is not a string"
            return name, problem, "write it as kubectl expects, like batch/v1 and Job"
    if not isinstance(content.get("metadata"), dict):
        return "metadata", "is missing", "add it, with a name"
    name, prefix = content["metadata"].get("name"), content["metadata"].get("generateName")
    if not isinstance(name or prefix, str):
        return "metadata.name", "is missing", "add a name or generateName"
    return None
