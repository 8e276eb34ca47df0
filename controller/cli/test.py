"""`lockgate test`: runs scenario files, the way in which platform teams pin their quota policy.

Exit codes: 0 all hold; 1 some expectation failed; 2 a file is bad and nothing was run; 3 nothing failed, but some
cases need what this runner does not have.
"""

import json
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from controller.cli import koordinator
from controller.cli.complaint import Complaint
from controller.cli.telling import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from admission.model.configuration import Configuration
    from admission.world.scenario.case import Case
    from admission.world.scenario.runner import Result
    from admission.world.scenario.source import Problem

_SUFFIXES = (".yaml", ".yml")
# A rewritten state can bring its reason into view, and that the message: more rounds than that change nothing.
_REWRITE_ROUNDS = 4


class Output(StrEnum):
    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


def command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Scenario files, or folders of them.", show_default=False)
    ],
    output: Annotated[Output, typer.Option(help="How to print the results.")] = Output.TEXT,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Write what was seen into the files' expectations.")
    ] = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Run on a real API server on which Lockgate is installed and runs, not in memory."),
    ] = False,
    own_product: Annotated[
        bool,
        typer.Option(
            "--own-product",
            help="With --live: start and end a product for this run, on a cluster of this machine that has none.",
        ),
    ] = False,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(help="With --live: credentials; default: $KUBECONFIG, ~/.kube/config, or the pod's account."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="What cases without a config of their own run with; with --live, what Lockgate runs with."),
    ] = None,
    feature_gates: Annotated[
        str | None,
        typer.Option(help="The same for Kueue's gates, as Name=true,…; not beside featureGates in the file."),
    ] = None,
    koordinator_preset: koordinator.Preset = None,
    koordinator_bands: koordinator.Bands = None,
) -> None:
    """Run scenario files and compare what happens with what they expect."""
    from admission.world.scenario.report import FileResult, as_json, as_junit, count, text
    from admission.world.scenario.runner import run_case
    from controller.cli.playing import configured, koordinator_of

    if live and rewrite:
        raise Complaint("--rewrite and --live: what a live run shows may be chance; rewrite from a run in memory")
    if kubeconfig is not None and not live:
        raise Complaint("--kubeconfig: a run in memory asks nothing of a cluster; add --live or leave the flag away")
    if own_product and not live:
        raise Complaint("--own-product: a run in memory has a product for each case; add --live or leave the flag away")
    words = koordinator_of(koordinator_preset, koordinator_bands)
    running = replace(configured(config, feature_gates).core, koordinator=words)
    cases = _read_all(_files(paths))
    if live:
        from controller.cli.live.run import run_live

        own = None
        if own_product:
            own = [f"--config={config.absolute()}"] if config else []
            own += [f"--feature-gates={feature_gates}"] if feature_gates else []
            own += [f"--koordinator-preset={koordinator_preset}"] if koordinator_preset else []
            own += [f"--koordinator-bands={koordinator_bands}"] if koordinator_bands else []
        found = run_live(list(cases.values()), str(kubeconfig) if kubeconfig else None, running, own)
    else:
        found = [run_case(case, running) for case in cases.values()]
    results = [FileResult(str(path), result) for path, result in zip(cases, found, strict=True)]
    if rewrite:
        results = [FileResult(one.file, _rewrite(Path(one.file), one.result, running)) for one in results]
    match output:
        case Output.TEXT:
            tell("\n".join(text(results)))
        case Output.JSON:
            tell(json.dumps(as_json(results), indent=2))
        case Output.JUNIT:
            tell(as_junit(results))
    if count(results, "failed"):
        raise typer.Exit(1)
    if count(results, "unsupported"):
        raise typer.Exit(3)


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES and file.is_file())
            if not inside:
                raise Complaint(f"{path}: no scenario in this folder; their names end in {' or '.join(_SUFFIXES)}")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise Complaint(f"{path}: there is no such file or folder")
    return list(dict.fromkeys(found))


def _unknown(case: "Case") -> "Iterator[Problem]":
    """Fields that the kinds of the manifests do not have: a policy pinned with a misspelt one pins another policy."""
    from admission.model.kinds import KINDS
    from admission.world.scenario.source import Problem
    from controller.cli.unknown import unknown_fields
    from controller.kit.documents import dotted

    for index, manifest in enumerate(case.form.objects):
        group, _, version = manifest["apiVersion"].rpartition("/")
        known = KINDS.get(manifest["kind"])
        if known is not None and known.group == group:
            for fault in unknown_fields(manifest["kind"], manifest, version):
                path = ("objects", index, *fault.path)
                yield Problem(dotted(path), case.source.line(path), f"{fault.problem}: {fault.remedy}")


def _read_all(files: list[Path]) -> "dict[Path, Case]":
    """Every case, or a complaint about every bad file: then nothing is run."""
    from admission.world.scenario.case import read_case
    from admission.world.scenario.source import BadFile, Problem

    cases: dict[Path, Case] = {}
    seen: dict[str, Path] = {}
    complaints: list[str] = []
    for path in files:
        try:
            case = read_case(path.read_text(encoding="utf-8"))
            unknown = list(_unknown(case))
            if unknown:
                raise BadFile(unknown)
            if case.id in seen:
                line = case.source.line(("id",))
                raise BadFile([Problem("id", line, f"{case.id} is also the id of {seen[case.id]}: change one")])
        except BadFile as bad:
            complaints += [f"{path}:{problem.line}: {problem}" for problem in bad.problems]
        except UnicodeDecodeError as error:
            complaints.append(f"{path}:1: is no text in UTF-8 (byte {error.start}): a scenario is YAML")
        else:
            seen[case.id] = path
            cases[path] = case
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
        bad_files = len({complaint.split(":", 1)[0] for complaint in complaints})
        raise Complaint(f"{bad_files} of {len(files)} files are bad; nothing was run")
    return cases


def _rewrite(path: Path, result: "Result", running: "Configuration") -> "Result":
    """The result after the file says what was seen, as far as values can say it."""
    from admission.world.scenario.case import read_case
    from admission.world.scenario.rewrite import rewritten
    from admission.world.scenario.runner import run_case

    for _ in range(_REWRITE_ROUNDS):
        text, changes = rewritten(result)
        if not changes:
            break
        case = read_case(text)
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {changes} values rewritten", file=sys.stderr)
        result = run_case(case, running)
    return result
