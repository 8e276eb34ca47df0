"""The few calls to an API server that starting and testing a cluster needs. Not the product's client."""

import http.client
import json
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SECONDS = 30.0


class Refused(Exception):
    """The API server's answer was an error; `status` is its HTTP code."""

    def __init__(self, method: str, path: str, status: int, body: str) -> None:
        super().__init__(f"{method} {path}: {status} {body[:500]}")
        self.status = status


@dataclass(frozen=True)
class Api:
    """Calls as one user; safe to share between threads, since each call has a connection of its own."""

    server: str
    token: str
    ca_file: Path
    _tls: ssl.SSLContext = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tls", ssl.create_default_context(cafile=str(self.ca_file)))

    def text(self, method: str, path: str, body: object = None, kind: str = "application/json") -> str:
        """One request; the answer's text, or Refused."""
        connection = http.client.HTTPSConnection(urlsplit(self.server).netloc, context=self._tls, timeout=SECONDS)
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json, */*", "Content-Type": kind}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            data = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 400:
            raise Refused(method, path, answer.status, data)
        return data

    def get(self, path: str) -> dict[str, Any]:
        """Read an object or a list."""
        return _parsed(self.text("GET", path))

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Create an object in the collection at `path`."""
        return _parsed(self.text("POST", path, body))

    def delete(self, path: str) -> None:
        """Delete an object."""
        self.text("DELETE", path)

    def apply(self, item: dict[str, Any]) -> dict[str, Any]:
        """Server-side apply of one object, created when missing."""
        path = f"{path_of(item)}?fieldManager=hack&force=true"
        return _parsed(self.text("PATCH", path, item, "application/apply-patch+yaml"))

    def merge(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Merge patch."""
        return _parsed(self.text("PATCH", path, body, "application/merge-patch+json"))

    def answers(self, path: str) -> bool:
        """Whether the server says yes at a health path."""
        try:
            self.text("GET", path)
        except (OSError, http.client.HTTPException, Refused):
            return False
        return True


def path_of(item: dict[str, Any]) -> str:
    """Where an object lives. Plurals by the rules of English, which hold for every kind we use."""
    version, kind = item["apiVersion"], item["kind"].lower()
    root = "/apis" if "/" in version else "/api"
    namespace = item["metadata"].get("namespace")
    middle = f"/namespaces/{namespace}" if namespace else ""
    plural = kind + "es" if kind.endswith("s") else kind[:-1] + "ies" if kind.endswith("y") else kind + "s"
    return f"{root}/{version}{middle}/{plural}/{item['metadata']['name']}"


def _parsed(text: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(text)
    return parsed
