"""Who may call a cluster: tokens in a file the API server reads once at start, and the kubeconfigs that carry them."""

import base64
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hack.cluster.pki import write_secret

# Each component has its own name, as in a cluster people run: so webhooks and audits see who really asks.
ADMIN = "admin"
KWOK = "kwok"
CONTROLLER_MANAGER = "system:kube-controller-manager"
SCHEDULER = "system:kube-scheduler"


@dataclass(frozen=True, slots=True)
class User:
    """A name, its groups and its token."""

    name: str
    groups: tuple[str, ...]
    token: str


def parse(text: str) -> User:
    """Read `name[:group[,group…]]`; a name that starts with `system:` has no groups but those RBAC knows."""
    if text.startswith("system:"):
        return _user(text)
    name, _, groups = text.partition(":")
    return _user(name, *filter(None, groups.split(",")))


def everyone(extra: Iterable[str] = ()) -> dict[str, User]:
    """The users every cluster has, and the asked-for ones."""
    fixed = [
        _user(ADMIN, "system:masters"),
        _user(KWOK, "system:masters"),  # it stands for all kubelets
        _user(CONTROLLER_MANAGER),
        _user(SCHEDULER),
    ]
    return {user.name: user for user in [*fixed, *map(parse, extra)]}


def write_tokens(path: Path, users: Iterable[User]) -> None:
    """The API server's token file."""
    lines = [f'{user.token},{user.name},{user.name},"{",".join(user.groups)}"\n' for user in users]
    write_secret(path, "".join(lines).encode())


def write_kubeconfig(path: Path, server: str, ca_file: Path, token: str) -> Path:
    """A kubeconfig that can be copied elsewhere: the authority is inside. JSON, which is YAML."""
    authority = base64.b64encode(ca_file.read_bytes()).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "it", "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": "me", "user": {"token": token}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me"}}],
        "current-context": "it",
    }
    write_secret(path, json.dumps(config, indent=1).encode())
    return path


def _user(name: str, *groups: str) -> User:
    return User(name, groups, secrets.token_urlsafe(24))
