"""Who asked the API server for what: its own audit log, so that nobody needs to be believed about its requests."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml


class Asked(NamedTuple):
    """One request, with the answer."""

    user: str
    verb: str
    group: str
    resource: str  # with its subresource: `jobs/status`
    namespace: str
    name: str  # "" of a collection, and of what is to be created
    code: int
    allowed: bool  # by the authoriser; admission may have refused it all the same
    uri: str


def arguments(folder: Path, users: Sequence[str]) -> tuple[str, ...]:
    """For the API server: notes every request of these users in `folder`, which must exist."""
    policy = folder / "policy.yaml"
    rules = [{"level": "Metadata", "users": [*users]}, {"level": "None"}]
    content = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": rules}
    policy.write_text(yaml.safe_dump(content))
    return (f"--audit-policy-file={policy}", f"--audit-log-path={_log(folder)}", "--audit-log-mode=blocking")


def requests(folder: Path) -> Iterator[Asked]:
    """Everything that was noted so far. A watch is noted when it begins."""
    seen = set()
    for line in _log(folder).read_text().splitlines():
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            continue  # being written
        if event["auditID"] in seen:  # a watch that has ended was noted when it began
            continue
        seen.add(event["auditID"])
        about = event.get("objectRef") or {}
        resource = "/".join(part for part in (about.get("resource", ""), about.get("subresource", "")) if part)
        yield Asked(
            event["user"]["username"],
            event["verb"],
            about.get("apiGroup", ""),
            resource,
            about.get("namespace", ""),
            about.get("name", ""),
            (event.get("responseStatus") or {}).get("code", 0),
            (event.get("annotations") or {}).get("authorization.k8s.io/decision") != "forbid",
            event["requestURI"],
        )


def _log(folder: Path) -> Path:
    return folder / "audit.log"
