"""The table of refusals put to a real API server: each row as a dry run, beside what is really stored for it to change.

Refused and accepted alike leave nothing behind but the `old` objects, which nobody needs to clean up: every question
has a name of its own.
"""

import http.client
import json
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from admission.jobs.registry import JOB_KINDS
from admission.model.effects import PodSetInfo
from admission.model.kinds import KINDS
from hack.cluster import Api
from tests.refusals import Object, Row, Write

# What the API server adds to a complaint without a path of its own.
ASIDES = ("some validation rules were not checked", "must validate at least one schema (anyOf)")
WEBHOOK_SAYS = "denied the request: "
SECONDS = 30.0
MARK = {"kueue.x-k8s.io/workload": "job-a"}  # by which our webhook knows that a job was admitted


@dataclass(frozen=True)
class Refusal:
    """`by` as in a row; one complaint is a path and what is wrong there."""

    by: str
    complaints: tuple[tuple[str, str], ...]

    def tells(self, row: Row) -> bool:
        """It is about the row's path in the row's words, and about nothing beside it.

        What holds it may be complained about, too: a list that is too short is also shorter than another.
        """
        beside = [path for path, _ in self.complaints if not row.path.startswith(path)]
        return not beside and any(path == row.path and row.words in said for path, said in self.complaints)


class Server:
    """An API server with CRDs and webhooks that answer. One connection; not to be shared between threads."""

    def __init__(self, api: Api) -> None:
        self._token = api.token
        tls = ssl.create_default_context(cafile=str(api.ca_file))
        self._connection = http.client.HTTPSConnection(urlsplit(api.server).netloc, context=tls, timeout=SECONDS)

    def close(self) -> None:
        self._connection.close()

    def store_legacy(self, rows: Iterable[Row]) -> None:
        """What rows want to find although it would be refused today; to be called while no webhook looks."""
        for row in rows:
            for write in (row.accepted, row.refused):
                if write.legacy:
                    self._store(write, _name(row, write))

    def answer(self, row: Row, write: Write) -> Refusal | None:
        """Of one of the row's two writes; None: accepted."""
        return self.ask(write, _name(row, write))

    def ask(self, write: Write, name: str) -> Refusal | None:
        """The same of any write, under a name that nothing has yet."""
        if write.old is None:
            return self._ask("POST", _path(write.new) + "?dryRun=All", _named(write.new, name))
        if not write.legacy:
            self._store(write, name)
        path = _path(write.new, name, "status" if write.status else None)
        return self._ask("PATCH", path + "?dryRun=All", _difference(write.old, write.new))

    def _store(self, write: Write, name: str) -> None:
        old = write.old
        assert old is not None
        self._must("POST", _path(old), _named(old, name))
        if "status" in old:
            self._must("PATCH", _path(old, name, "status"), {"status": old["status"]})
        job = JOB_KINDS.get(old["kind"])
        if job is not None and not job.hold.holds(old):
            held = job.hold.set(old, held=True)
            infos = [PodSetInfo(each.name, each.count, {}, (), {}, MARK) for each in job.read(held).pod_sets]
            self._must("PATCH", _path(old, name), job.start(held, infos))

    def _must(self, method: str, path: str, body: Object) -> None:
        refusal = self._ask(method, path, body)
        assert refusal is None, f"{method} {path}: {refusal}"

    def _ask(self, method: str, path: str, body: Object) -> Refusal | None:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        self._connection.request(method, path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        said = json.loads(answer.read())
        return None if answer.status < 400 else _refusal(said)


def _refusal(status: Object) -> Refusal:
    message = str(status["message"])
    if WEBHOOK_SAYS in message:
        said = message.partition(WEBHOOK_SAYS)[2]
        whole = re.fullmatch(r"\[(.*)\]", said, re.DOTALL)
        each = re.split(r", (?=(?:metadata|spec|status)[.\[])", whole[1]) if whole else [said]
        return Refusal("webhook", tuple(_split(one) for one in each))
    causes = [(cause["field"], cause["message"]) for cause in status.get("details", {}).get("causes", [])]
    told = [cause for cause in causes if not any(aside in cause[1] for aside in ASIDES)]
    return Refusal("schema", tuple(told) or (("", message),))


def _split(complaint: str) -> tuple[str, str]:
    path, _, said = complaint.partition(": ")
    return path, said


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> Object:
    """A merge patch that makes `new` of `old`."""
    patch: Object = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            if inner := _difference(before, value):
                patch[name] = inner
        elif name not in old or value != before:
            patch[name] = value
    return patch


def _name(row: Row, write: Write) -> str:
    sort = "accepted" if write is row.accepted else "refused"
    words = re.sub(r"[^a-z0-9]+", "-", f"{row}-{sort}".lower()).strip("-")
    return words[-63:].strip("-")  # a Job's name becomes a label's value


def _named(item: Object, name: str) -> Object:
    return {key: value for key, value in item.items() if key != "status"} | {
        "metadata": {**item["metadata"], "name": name}
    }


def _path(item: Object, name: str = "", subresource: str | None = None) -> str:
    return KINDS[item["kind"]].path(item["metadata"].get("namespace", ""), name, subresource)
