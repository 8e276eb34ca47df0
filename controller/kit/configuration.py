"""Kueue's Configuration file on disk: one strict reading of it, with the line of everything that is wrong.

What its fields mean is read in `admission.configuration`, which scenarios share. Apart from the settings of the
processes, so that a simulation need not wait for HTTP and Kubernetes libraries.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from admission.configuration import Problem, Reading, read
from admission.model.configuration import NAMESPACE
from controller.kit.documents import BadDocument, line_of, read_yaml

MAX_BYTES = 2**20  # a ConfigMap, in which such a file lives, holds no more


class BadConfiguration(ValueError):
    """Names file, line, field, value and remedy of everything that is wrong, a line each."""

    def __init__(self, file: str, faults: Sequence["Fault"]) -> None:
        super().__init__("\n".join(f"{file}{f':{fault.line}' if fault.line else ''}: {fault.said}" for fault in faults))
        self.faults = tuple(faults)


class Fault(NamedTuple):
    line: int | None  # from 1
    problem: Problem | None  # None: the file could not be read at all
    said: str


def read_file(path: Path | None, *, feature_gates: str = "", namespace: str = "", home: str = "") -> Reading:
    """`path` None: all defaults. `feature_gates` is the text of that flag; `namespace` wins over the file's, `home` is
    taken where the file names none. Raises BadConfiguration."""
    content, text = (None, "") if path is None else _content(path)
    reading = read(content, feature_gates=feature_gates, namespace=namespace, home=home or NAMESPACE)
    if reading.problems:
        faults = [Fault(_line(text, problem), problem, str(problem)) for problem in reading.problems]
        # By line, as a person mends them; what concerns a flag comes first.
        raise BadConfiguration(str(path or "settings"), sorted(faults, key=lambda fault: fault.line or 0))
    return reading


def _content(path: Path) -> tuple[Any, str]:
    """Raises BadConfiguration."""

    def bad(said: str, line: int | None = None) -> BadConfiguration:
        return BadConfiguration(str(path), [Fault(line, None, said)])

    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise bad(f"is larger than {MAX_BYTES // 2**20} MiB; it can't be a Configuration")
        text = raw.decode("utf-8-sig")
        documents = [document.content for document in read_yaml(text) if document.content is not None]
    except OSError as error:
        raise bad(f"cannot be read: {error.strerror or error}; check the path") from error
    except UnicodeDecodeError as error:
        raise bad("cannot be read: is not UTF-8 text; save it as UTF-8") from error
    except BadDocument as error:
        raise bad(f"cannot be read: {error}", error.line) from error
    if len(documents) != 1 or not isinstance(documents[0], dict):
        held = f"holds {len(documents)} documents" if len(documents) != 1 else "holds no object"
        raise bad(f"{held}; must be one YAML object of kind Configuration")
    return documents[0], text


def _line(text: str, problem: Problem) -> int | None:
    """None for what stands in no file."""
    if problem.path[:1] == ("--feature-gates",):
        return None
    return line_of(text, 1, problem.path)
