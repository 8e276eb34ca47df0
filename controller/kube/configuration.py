"""Kueue's Configuration file on disk, and what it means to the processes around the core.

What its fields mean is read in `admission.configuration`, which scenarios share; here are files, lines and the
defaults of our own processes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from admission.configuration import Note, Problem, Process, Reading, read
from admission.model.configuration import NAMESPACE, Configuration
from controller.kit.documents import BadDocument, line_of, read_yaml
from controller.kube.lease import NAME, Timings
from controller.kube.writer import BURST, RATE

MAX_BYTES = 2**20  # a ConfigMap, in which such a file lives, holds no more
UNLIMITED = 1e9  # requests a second, for a negative rate


class BadConfiguration(ValueError):
    """Names file, line, field, value and remedy of everything that is wrong, a line each."""

    def __init__(self, file: str, faults: Sequence["Fault"]) -> None:
        super().__init__("\n".join(f"{file}{f':{fault.line}' if fault.line else ''}: {fault.said}" for fault in faults))
        self.faults = tuple(faults)


class Fault(NamedTuple):
    line: int | None  # from 1
    problem: Problem | None  # None: the file could not be read at all
    said: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What the file says: to the core, and to the processes around it."""

    core: Configuration = field(default_factory=Configuration)
    leader_elect: bool = True
    lease_name: str = NAME
    lease_namespace: str = ""  # "": the core's namespace
    timings: Timings = field(default_factory=Timings)
    requests_per_second: float = RATE
    request_burst: int = BURST
    health_bind: str = ":8081"
    webhook_host: str = ""
    webhook_port: int = 9443
    webhook_cert_dir: str = ""  # "": an authority of our own
    metrics_bind: str = ":8080"  # plain HTTP; Kueue's :8443 is HTTPS with its own authorisation
    visibility_host: str = "0.0.0.0"
    visibility_port: int = 8082
    tls_min_version: str = "VersionTLS12"
    notes: tuple[Note, ...] = ()  # what is right and has no effect


def read_settings(path: Path | None, *, feature_gates: str = "", namespace: str = "", home: str = "") -> Settings:
    """`path` None: all defaults. `feature_gates` is the text of that flag; `namespace` wins over the file's, `home` is
    taken where the file names none. Raises BadConfiguration."""
    content, text = (None, "") if path is None else _content(path)
    reading = read(content, feature_gates=feature_gates, namespace=namespace, home=home or NAMESPACE)
    if reading.problems:
        faults = [Fault(_line(text, problem), problem, str(problem)) for problem in reading.problems]
        # By line, as a person mends them; what concerns a flag comes first.
        raise BadConfiguration(str(path or "settings"), sorted(faults, key=lambda fault: fault.line or 0))
    return settings_of(reading)


def settings_of(reading: Reading) -> Settings:
    usual, said = Settings(), reading.process
    return Settings(
        core=reading.core,
        leader_elect=usual.leader_elect if said.leader_elect is None else said.leader_elect,
        lease_name=said.lease_name or usual.lease_name,
        lease_namespace=said.lease_namespace or usual.lease_namespace,
        timings=Timings(
            lease=said.lease_duration or usual.timings.lease,
            deadline=said.renew_deadline or usual.timings.deadline,
            retry=said.retry_period or usual.timings.retry,
        ),
        requests_per_second=_rate(said),
        request_burst=said.request_burst or usual.request_burst,
        health_bind=said.health_bind or usual.health_bind,
        webhook_host=said.webhook_host or usual.webhook_host,
        webhook_port=said.webhook_port or usual.webhook_port,
        webhook_cert_dir=said.webhook_cert_dir or usual.webhook_cert_dir,
        metrics_bind=said.metrics_bind or usual.metrics_bind,
        visibility_host=said.visibility_host or usual.visibility_host,
        visibility_port=said.visibility_port or usual.visibility_port,
        tls_min_version=said.tls_min_version or usual.tls_min_version,
        notes=reading.notes,
    )


def _rate(said: Process) -> float:
    if said.requests_per_second is None:
        return RATE
    return said.requests_per_second if said.requests_per_second > 0 else UNLIMITED


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
