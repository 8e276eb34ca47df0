"""Files and folders of manifests as users have them, read as strictly as the API server would read them.

Every fault names file, document, line, field, value and remedy; all of them are collected before the command ends.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from admission.api.crd import STORED, VERSIONS
from admission.conversion import Unconvertible, convert
from admission.jobs import JOB_KINDS
from admission.jobs.described import lenders
from admission.jobs.ray_job import served
from admission.model.kinds import COUNTED, JOBS, KINDS, KUEUE, SINGLE, WATCHED, kind_of
from admission.model.names import QUEUE_NAME, WORKLOAD_ANNOTATION
from admission.readers.catalogue import read_catalogue
from admission.readers.job_kind import read_job_kind
from admission.readers.narrow import mapping
from admission.world.objects import kind_key
from controller.cli.complaint import Complaint
from controller.cli.job_shapes import JOB_SHAPES, job_faults
from controller.cli.limit_ranges import limit_faults
from controller.cli.misspelt import Oddities, Oddity
from controller.cli.shapes import Fault, faults
from controller.cli.unknown import odd_annotations, unknown_fields
from controller.kit.documents import BadDocument, Path, dotted, line_of, read_json, read_yaml

MAX_BYTES = 10 * 2**20  # an etcd object holds 1.5 MiB; a larger file is not a manifest
MAX_TRACE_BYTES = 200 * 2**20  # some four million rows
MAX_SHOWN = 20  # faults; a reader mends the first ones first

SIMULATED = (*(kind for kind in WATCHED if kind not in JOBS or kind in JOB_KINDS), "ClusterColocationProfile")
# Older versions that an operator serves beside the present one, with the same fields.
_SAME = {"RayCluster": ("v1alpha1",), "RayJob": ("v1alpha1",)}
_SUFFIXES = (".yaml", ".yml", ".json", ".csv")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9.]*)?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault and where it is."""

    file: str
    document: int
    line: int | None
    field: str  # "" when it is not about one field
    problem: str
    remedy: str

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        name = f" {self.field}" if self.field else ""
        return f"{self.file}, document {self.document}{line}:{name} {self.problem}; {self.remedy}"


class BadManifests(Complaint):
    def __init__(self, problems: Sequence[Problem]) -> None:
        lines = [str(problem) for problem in problems[:MAX_SHOWN]]
        if len(problems) > MAX_SHOWN:
            lines.append(f"and {len(problems) - MAX_SHOWN} more faults")
        super().__init__("\n".join(lines))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object: its kind (as `model.kinds.kind_of` takes it), its content, and where it was written."""

    kind: str
    content: Mapping[str, Any]
    file: str
    document: int
    path: Path = ()  # inside the document, for an entry of a List
    lends: bool = False  # no job, but pod templates of jobs lie in it

    @property
    def namespace(self) -> str:
        stated = self.content["metadata"].get("namespace") or ""
        if self.lends:  # nobody knows whether its kind is cluster-scoped
            return str(stated)
        return (stated or "default") if kind_of(self.kind).namespaced else ""

    @property
    def name(self) -> str:
        return self.content["metadata"].get("name") or ""

    @property
    def called(self) -> str:
        """Its name, or what its name will begin with."""
        prefix = self.content["metadata"].get("generateName")
        return self.name or (f"{prefix}*" if prefix else "")

    @property
    def arrives(self) -> bool:
        """A job, of a kind that is built in or described, or a Workload: it comes some time and is queued."""
        return self.kind == "Workload" or self.kind in JOB_KINDS or (self.kind not in KINDS and not self.lends)

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind.partition(".")[0], self.namespace, self.called) if part)


@dataclass(slots=True)
class Bundle:
    """What the paths hold: manifests in the order of files and documents, trace files, and what was left out."""

    manifests: list[Manifest] = field(default_factory=list)
    traces: list[tuple[str, str]] = field(default_factory=list)  # file name, text
    notes: list[str] = field(default_factory=list)
    oddities: Oddities = field(default_factory=Oddities)


def load(paths: Iterable[FilePath]) -> Bundle:
    """Reads everything below the paths. Raises BadManifests with all that is wrong, Complaint for an empty folder."""
    bundle, problems, others = Bundle(), list[Problem](), list[Manifest]()
    for path in paths:
        for file in _files(path):
            try:
                _load_file(file, file != path, bundle, problems, others)
            except BadManifests as bad:
                problems += bad.problems
    described = list(_described(bundle.manifests, others))
    problems += (problem for one in described for problem in _judged_late(one))
    bundle.manifests += described
    bundle.manifests = list(_distinct(bundle.manifests, bundle.notes, problems))
    if problems:
        raise BadManifests(problems)
    for one in described:
        bundle.oddities.look_at(one.kind, one.content, partial(_odd, one, text_of(FilePath(one.file))))
    bundle.notes += bundle.oddities.notes()
    taken = {id(one.content) for one in described}
    bundle.notes += _skipped(one for one in others if id(one.content) not in taken)
    return bundle


def _described(manifests: Iterable[Manifest], others: Iterable[Manifest]) -> Iterator[Manifest]:
    """Of the others those whose kind one of the manifests, a JobKind, describes, or in which it has templates lie; and
    what elastic quotas are reckoned from, where there are any."""
    found = [read_job_kind(one.content) for one in manifests if one.kind == "JobKind"]
    kinds = {one.kind.partition(":")[0] for one in found}
    lending = {lender.kind.partition(":")[0] for one in found if one.rules for lender in lenders(one.rules)}
    quotas = any(one.kind == "ElasticQuota" for one in manifests)
    for one in others:
        if one.kind in kinds:
            yield one
        elif one.kind in lending:
            yield replace(one, lends=True)
        elif one.kind in COUNTED and quotas and not _of_a_job(one.content):
            yield one


def _of_a_job(pod: Mapping[str, Any]) -> bool:
    """Of one that is played itself, and begins anew."""
    return WORKLOAD_ANNOTATION in mapping(mapping(pod.get("metadata")).get("annotations"))


def _judged_late(one: Manifest) -> Iterator[Problem]:
    """Of a kind of which no more is known than what every object has."""
    text = text_of(FilePath(one.file))
    for fault in [*faults(one.kind, one.content)] or _misnamed(one.kind, one.content["metadata"]):
        yield _located(FilePath(one.file), text, one.document, fault._replace(path=(*one.path, *fault.path)))


def _skipped(manifests: Iterable[Manifest]) -> Iterator[str]:
    places: dict[tuple[str, bool], list[str]] = {}
    for one in manifests:
        meta = one.content.get("metadata")
        labels = meta.get("labels") if isinstance(meta, dict) else None
        queued = isinstance(labels, dict) and QUEUE_NAME in labels
        places.setdefault((_called(one.content), queued), []).append(f"{one.file}, document {one.document}")
    for (kind, queued), found in places.items():
        why = "a kind that is not simulated"
        if queued:
            why = "which name a queue but are of a kind that is not known: describe it by a JobKind, and add that"
        yield f"skipped {len(found)} × {kind}, {why} ({found[0]}{', …' if found[1:] else ''})"


def _files(path: FilePath) -> list[FilePath]:
    if not path.exists():
        raise Complaint(f"{path}: there is no such file or folder; check the path")
    if not path.is_dir():
        return [path]
    found = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in _SUFFIXES
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not found:
        raise Complaint(f"{path}: the folder has no manifests; name one with {', '.join(_SUFFIXES)} files")
    return found


def text_of(file: FilePath, limit: int = MAX_BYTES) -> str:
    """The text of a file. Raises BadManifests for one that is too large, binary or not UTF-8."""

    def bad(line: int | None, problem: str, remedy: str) -> BadManifests:
        return BadManifests([Problem(str(file), 1, line, "", problem, remedy)])

    if not file.is_file():
        raise bad(None, "is not a regular file", "name a file or folder of manifests")
    size = file.stat().st_size
    if size > limit:
        raise bad(None, f"has {size / 2**20:.1f} MiB, more than {limit // 2**20}", "split it")
    raw = file.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise bad(
            line, f"is not UTF-8 text: byte 0x{raw[error.start]:02x} at {error.start}", "save it as UTF-8"
        ) from error
    if control := _CONTROL.search(text):
        line = text.count("\n", 0, control.start()) + 1
        raise bad(line, f"is binary: it has the control character {control[0]!r}", "name a text file")
    return text


def _load_file(file: FilePath, found: bool, bundle: Bundle, problems: list[Problem], others: list[Manifest]) -> None:
    """`found`: in a folder, where a file that holds no object at all is nobody's mistake."""
    suffix = file.suffix.lower()
    if suffix == ".csv":
        bundle.traces.append((str(file), text_of(file, MAX_TRACE_BYTES)))
        return
    text = text_of(file)
    try:
        documents = list((read_json if suffix == ".json" else read_yaml)(text))
    except BadDocument as bad:
        problem, _, remedy = str(bad).rpartition("; ")
        raise BadManifests([Problem(str(file), bad.document, bad.line, "", problem, remedy)]) from bad
    if all(document.content is None for document in documents):
        bundle.notes.append(f"{file} is empty")
    for document in documents:
        for path, content in _unfolded(document.content, ()):
            kind, wrong = _judged(content, path, found)
            if wrong:
                problems += [_located(file, text, document.number, fault) for fault in wrong]
            elif kind is None:
                others.append(Manifest(kind_key(content), content, str(file), document.number, path))
            elif kind == "Workload" and (owner := _owner(content)) and (owner in JOB_KINDS or owner not in KINDS):
                name = content["metadata"].get("name")
                bundle.notes.append(f"skipped Workload {name}, which its {owner} makes anew ({file})")
            else:
                written = content
                content = served(_present(content)) if kind == "RayJob" else _present(content)
                one = Manifest(kind, content, str(file), document.number, path)
                bundle.manifests.append(one)
                bundle.notes += [f"{one} {said} ({file})" for said in odd_annotations(content["metadata"])]
                bundle.oddities.look_at(kind, written, partial(_odd, one, text))


def _unfolded(content: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The objects of a document: itself, or the entries of a List."""
    if content is None:
        return
    kind = content.get("kind") if isinstance(content, dict) else None
    if isinstance(kind, str) and kind.endswith("List") and isinstance(content.get("items"), list) and len(path) < 20:
        for index, item in enumerate(content["items"]):
            yield from _unfolded({} if item is None else item, (*path, "items", index))
        return
    yield path, content


def _judged(content: Any, path: Path, lenient: bool) -> tuple[str | None, list[Fault]]:
    """The kind if it is one of ours, and what is wrong with the object."""
    if not isinstance(content, dict):
        return None, [Fault(path, content, "is not an object", "write a map with apiVersion, kind and metadata")]
    version, kind = content.get("apiVersion"), content.get("kind")
    if version is None and kind is None and lenient and not path:
        return None, []
    if not isinstance(version, str) or not isinstance(kind, str):
        name, value = ("kind", kind) if isinstance(version, str) else ("apiVersion", version)
        problem = "is missing" if value is None else "is not a string"
        return None, [Fault((*path, name), value, problem, "write it as kubectl expects, like batch/v1 and Job")]
    known = KINDS.get(kind) if kind in SIMULATED else None
    if kind in SINGLE and _named(content) != SINGLE[kind]:
        known = None
    group, _, written = version.rpartition("/")
    if known is None or known.group != group:
        return None, []
    if written != known.version and written not in _also_served(kind, group):
        remedy = f"write {known.api_version}, the version that clusters serve"
        return None, [Fault((*path, "apiVersion"), version, f"is a version of {kind} that is not read", remedy)]
    if content.get("metadata") is None:
        return None, [Fault((*path, "metadata"), None, "is missing", "add it, with a name")]
    try:
        judge = job_faults if kind in JOB_SHAPES else faults
        wrong = list(judge(kind, _present(content))) or list(_misnamed(kind, content["metadata"]))
        if kind == "ConfigMap" and not wrong:
            wrong = [Fault((), None, each, "mend it or leave it out") for each in read_catalogue(content).faults]
        if kind == "LimitRange" and not wrong:
            wrong = list(limit_faults(content))
    except Unconvertible as error:
        wrong = [Fault((), None, str(error), f"write {known.api_version}")]
    wrong += unknown_fields(kind, content, written)
    return kind, [fault._replace(path=(*path, *fault.path)) for fault in wrong]


def _named(content: Mapping[str, Any]) -> object:
    metadata = content.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None


def _also_served(kind: str, group: str) -> tuple[str, ...]:
    """Versions beside the stored one that are read, too."""
    return VERSIONS if group == KUEUE else _SAME.get(kind, ())


def _present(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """In the version that is stored. Raises Unconvertible."""
    if str(content["apiVersion"]).startswith(f"{KUEUE}/"):
        return convert(content, STORED)
    return {**content, "apiVersion": KINDS[content["kind"]].api_version} if content["kind"] in _SAME else content


def _misnamed(kind: str, metadata: Mapping[str, Any]) -> Iterator[Fault]:
    name, prefix, namespace = (metadata.get(key) for key in ("name", "generateName", "namespace"))
    rule = "use lower-case letters, digits, - and ., at most 253"
    if not name and not prefix:
        yield Fault(("metadata", "name"), name, "is missing", "add a name or generateName")
    if name and not (len(name) <= 253 and _SUBDOMAIN.fullmatch(name)):
        yield Fault(("metadata", "name"), name, "is not a valid name", rule)
    if prefix and not (len(prefix) <= 248 and _PREFIX.fullmatch(prefix)):
        yield Fault(("metadata", "generateName"), prefix, "is not the beginning of a valid name", rule)
    if namespace and kind_of(kind).namespaced and not (len(namespace) <= 63 and _SUBDOMAIN.fullmatch(namespace)):
        yield Fault(("metadata", "namespace"), namespace, "is not a valid namespace", rule.replace("253", "63"))


def _odd(one: Manifest, text: str, odd: Oddity) -> str:
    return f"{one} has {odd} ({one.file}, line {line_of(text, one.document, (*one.path, *odd.path))})"


def _located(file: FilePath, text: str, document: int, fault: Fault) -> Problem:
    shown = "" if fault.value is None else f"{_shown(fault.value)} "
    line = line_of(text, document, fault.path)
    return Problem(str(file), document, line, dotted(fault.path), f"{shown}{fault.problem}", fault.remedy)


def _shown(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() >= 1000:
        return "a huge number"
    whole = json.dumps(value, ensure_ascii=False, default=str)
    return whole if len(whole) <= 60 else f"{whole[:57]}…"


def _called(content: Mapping[str, Any]) -> str:
    kind, version = content.get("kind"), content.get("apiVersion")
    return f"{kind} ({version})" if kind else "document without a kind"


def _owner(content: Mapping[str, Any]) -> str:
    owners = content["metadata"].get("ownerReferences") or ()
    return next((str(owner.get("kind")) for owner in owners if owner.get("controller")), "")


def _distinct(manifests: Iterable[Manifest], notes: list[str], problems: list[Problem]) -> Iterator[Manifest]:
    """Without those written twice; the same name with another content is a fault."""
    seen: dict[tuple[str, str, str], Manifest] = {}
    for one in manifests:
        first = seen.setdefault((one.kind, one.namespace, one.name), one) if one.name else one
        if first is one:
            yield one
        elif first.content == one.content:
            notes.append(f"{one} is written twice ({first.file}, {one.file})")
        else:
            where = f"{first.file}, document {first.document}"
            problems.append(
                Problem(
                    one.file, one.document, None, "metadata.name", f"{one} is also in {where}", "keep one or rename it"
                )
            )
