"""`lockgate convert`: queues of other systems as ours, and what of them could not be carried over."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from admission.migration import Fault, Note, Surroundings, convert
from admission.model.amounts import BadQuantity, amount
from admission.validation.syntax import dns_label_faults, subdomain_faults
from controller.cli.complaint import Complaint
from controller.cli.manifests import BadManifests, Problem, text_of
from controller.cli.telling import tell
from controller.kit.documents import BadDocument, dotted, line_of, read_json, read_yaml
from controller.kit.documents import Path as FieldPath

_SUFFIXES = (".yaml", ".yml", ".json")
_QUEUES = "queues.yaml"  # the key of YuniKorn's ConfigMap
_VALUES = "yunikornDefaults"  # where the values of YuniKorn's chart have what goes into it
# Groups of the kinds that are queues in each system; YuniKorn's queues are no objects.
_KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "kai": {"scheduling.run.ai": ("Queue",)},
    "volcano": {"scheduling.volcano.sh": ("Queue",)},
    "koordinator": {
        "scheduling.sigs.k8s.io": ("ElasticQuota", "ElasticQuotaTree"),
        "quota.koordinator.sh": ("ElasticQuotaProfile",),
    },
    "yunikorn": {},
}


class System(StrEnum):
    KAI = "kai"
    KOORDINATOR = "koordinator"
    VOLCANO = "volcano"
    YUNIKORN = "yunikorn"


@dataclass(frozen=True, slots=True)
class _Source:
    """One object and where it was written; `text` is that of the file, or of the ConfigMap's entry inside of it."""

    content: Any
    file: str
    document: int
    text: str
    path: FieldPath = ()
    within: str = ""  # the entry of a ConfigMap


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of that system's objects, or folders.")],
    system: Annotated[System, typer.Option("--from", help="Whose queues they are.")],
    namespace: Annotated[
        list[str] | None,
        typer.Option(help="Make a LocalQueue of each queue in this namespace, too; may be given several times."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="What the cluster has in all, as cpu=640,memory=4Ti,nvidia.com/gpu=64.")
    ] = None,
    flavor: Annotated[str, typer.Option(help="The ResourceFlavor of queues that name no nodes.")] = "default",
) -> None:
    """Print the queues of another system as ours; what could not be carried over goes to stderr, and into comments."""
    around = Surroundings(_total(cluster), _namespaces(namespace or ()), _flavor(flavor))
    sources = [source for file in _files(files) for source in _read(file)]
    ours, skipped = _sorted_out(system, sources)
    if not ours:
        raise Complaint(f"no queues of {system} are in {', '.join(map(str, files))}: check --from and the files")
    spaces = [space for source in sources if (space := _namespace_of(source.content))]
    around = Surroundings(around.total, tuple(dict.fromkeys((*around.namespaces, *spaces))), around.flavor)
    converted = convert(system, [source.content for source in ours], around)
    if converted.faults:
        raise BadManifests([_problem(fault, ours) for fault in converted.faults])
    notes = [str(note) for note in (*converted.notes, *_missing(converted.objects, around))] + skipped
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    tell(_written(converted.objects, notes).rstrip("\n"))


def _written(objects: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> str:
    head = "".join(f"# note: {' '.join(note.split())}\n" for note in notes)
    return head + "---\n".join(yaml.safe_dump(each, sort_keys=False, width=120, allow_unicode=True) for each in objects)


def _missing(objects: Sequence[Mapping[str, Any]], around: Surroundings) -> Iterator[Note]:
    if not any(each["kind"] == "LocalQueue" for each in objects):
        why = "none was named, so there are no LocalQueues: say --namespace for each that has jobs"
        yield Note("namespaces", "", "", why)
    if not around.total:
        why = "its size is not known, so what no queue owns is given to nobody: say --cluster"
        yield Note("the cluster", "", "", why)


# reading


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise Complaint(f"{path}: there is no such file or folder; check the path")
        if path.is_dir():
            found = sorted(file for file in path.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
            if not found:
                raise Complaint(f"{path}: the folder has no files with {', '.join(_SUFFIXES)}; name one that has")
            yield from found
        else:
            yield path


def _read(file: Path) -> Iterator[_Source]:
    text = text_of(file)
    for document in _documents(str(file), text, file.suffix.lower() == ".json", 1, ""):
        for path, content in _unfolded(document.content, ()):
            yield _Source(content, str(file), document.number, text, path)


def _documents(file: str, text: str, is_json: bool, number: int, within: str) -> list[Any]:
    try:
        return [one for one in (read_json if is_json else read_yaml)(text) if one.content is not None]
    except BadDocument as bad:
        problem, _, remedy = str(bad).rpartition("; ")
        where = bad.document if not within else number
        raise BadManifests([Problem(file, where, bad.line, within, problem, remedy)]) from bad


def _unfolded(content: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    """The objects of a document: itself, or the entries of a List."""
    kind = content.get("kind") if isinstance(content, dict) else None
    if isinstance(kind, str) and kind.endswith("List") and isinstance(content.get("items"), list) and len(path) < 20:
        for index, item in enumerate(content["items"]):
            yield from _unfolded(item, (*path, "items", index))
    else:
        yield path, content


def _sorted_out(system: System, sources: Sequence[_Source]) -> tuple[list[_Source], list[str]]:
    """What is to be converted, and what is said of the rest."""
    ours: list[_Source] = []
    others: dict[str, int] = {}
    for source in sources:
        if system is System.YUNIKORN:
            mine = list(_partitions(source))
        else:
            mine = [source] if _is_queue(system, source.content) else []
        ours += mine
        if not mine and not _namespace_of(source.content):
            called = _called(source.content)
            others[called] = others.get(called, 0) + 1
    return ours, [f"skipped {count} × {called}, which is no queue of {system}" for called, count in others.items()]


def _is_queue(system: System, content: Any) -> bool:
    if not isinstance(content, dict) or not isinstance(content.get("apiVersion"), str):
        return False
    return content.get("kind") in _KINDS[system].get(content["apiVersion"].rpartition("/")[0], ())


def _partitions(source: _Source) -> Iterator[_Source]:
    """A `queues.yaml`: the document itself, or entries of a ConfigMap or of its chart's values whose key says so."""
    content = source.content
    if not isinstance(content, dict):
        return
    if "partitions" in content:
        yield source
        return
    member = "data" if content.get("kind") == "ConfigMap" else _VALUES
    if isinstance(content.get(member), dict):
        for key, text in content[member].items():
            if key.endswith(_QUEUES) and isinstance(text, str):
                within = dotted((*source.path, member, key))
                for one in _documents(source.file, text, False, source.document, within):
                    yield _Source(one.content, source.file, source.document, text, (), within)


def _namespace_of(content: Any) -> str:
    """The name of a Namespace; "" for anything else."""
    if not isinstance(content, dict) or (content.get("apiVersion"), content.get("kind")) != ("v1", "Namespace"):
        return ""
    metadata = content.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and not dns_label_faults(name) else ""


def _called(content: Any) -> str:
    if not isinstance(content, dict) or not content.get("kind"):
        return "document without a kind"
    return f"{str(content['kind'])[:80]} ({str(content.get('apiVersion'))[:80]})"


def _problem(fault: Fault, sources: Sequence[_Source]) -> Problem:
    if fault.document < 0:
        first = sources[0]
        return Problem(first.file, first.document, None, "", f"{fault.value} {fault.problem}", fault.remedy)
    source = sources[fault.document]
    path = (*source.path, *fault.path)
    field = ": ".join(part for part in (source.within, dotted(path)) if part)
    line = None if source.within else line_of(source.text, source.document, path)
    shown = "" if fault.value is None else f"{_shown(fault.value)} "
    return Problem(source.file, source.document, line, field, f"{shown}{fault.problem}", fault.remedy)


def _shown(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 1000:
        return "a huge number"
    whole = repr(value)
    return whole if len(whole) <= 60 else f"{whole[:57]}…"


# options


def _total(option: str | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in (option or "").split(","):
        if not part.strip():
            continue
        resource, equals, quantity = part.strip().partition("=")
        try:
            if not (resource and equals):
                raise BadQuantity("has not the form resource=quantity")
            units = amount(resource, quantity)
        except BadQuantity as error:
            raise Complaint(f"--cluster {part.strip()}: {error}; write cpu=640,memory=4Ti,nvidia.com/gpu=64") from error
        if units < 0 or resource in found:
            raise Complaint(f"--cluster {part.strip()}: is negative or given twice; give each resource once")
        found[resource] = units
    return found


def _namespaces(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if faults := dns_label_faults(name):
            raise Complaint(f"--namespace {name}: {faults[0]}")
    return tuple(names)


def _flavor(name: str) -> str:
    if faults := subdomain_faults(name):
        raise Complaint(f"--flavor {name}: {faults[0]}")
    return name
