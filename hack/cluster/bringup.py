"""Brings a cluster up in the order its parts need each other, and waits for conditions rather than for time.

Every wait also looks whether a component has died: then its log's end is the error, at once.
"""

import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from hack.cluster import components, pools, processes, tools, users, wait
from hack.cluster.api import Api
from hack.cluster.components import NOTHING, Extra, Ports
from hack.cluster.errors import StartFailed, tail
from hack.cluster.gobuild import build_all
from hack.cluster.pki import authority, key_pem, leaf, new_key, write_secret
from hack.cluster.pools import Pool
from hack.cluster.ports import Port
from hack.cluster.processes import Process
from hack.cluster.state import State

SECONDS = 90.0  # 4 s on a quiet machine; the rest is for one busy with builds
SERVING = ("127.0.0.1", "localhost", "kubernetes.default.svc", "10.96.0.1")


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller wants beyond the bare control plane."""

    pools: tuple[Pool, ...] = ()
    users: tuple[str, ...] = ()
    extra: Extra = NOTHING
    stages: tuple[Path, ...] = ()


def build() -> dict[str, Path]:
    """Every command a cluster needs, built when missing."""
    return build_all(tools.ALL)


def pki(folder: Path) -> Path:
    """Where certificates, keys and tokens are."""
    return folder / "pki"


def log(folder: Path, name: str) -> Path:
    """Where a component's output goes."""
    return folder / "log" / f"{name}.log"


def bring_up(state: State, wish: Wish, binaries: Mapping[str, Path]) -> None:
    """etcd, then the API server, then what talks to it, then nodes."""
    folder, ports, everyone = state.folder, Ports(), users.everyone(wish.users)
    log(folder, "").parent.mkdir()
    state.server, state.etcd = f"https://{ports.apiserver.address}", f"http://{ports.etcd.address}"
    state.tokens = {user.name: user.token for user in everyone.values()}
    _write_pki(pki(folder))
    users.write_tokens(pki(folder) / "tokens.csv", everyone.values())
    ca_file = pki(folder) / "ca.crt"

    def config(user: str, file: str) -> Path:
        return users.write_kubeconfig(folder / file, state.server, ca_file, state.tokens[user])

    def start(tool: str, arguments: list[str], *needed: Port) -> None:
        for port in needed:
            port.release()
        spawn(state, tool, [str(binaries[tool]), *arguments])

    config(users.ADMIN, "kubeconfig")
    start("etcd", components.etcd(folder, ports), ports.etcd, ports.peer)
    start("kube-apiserver", components.apiserver(pki(folder), ports, wish.extra), ports.apiserver)  # waits for etcd
    api = Api(state.server, state.tokens[users.ADMIN], ca_file)
    until(state, lambda: api.answers("/readyz"), "the API server ready")

    manager = config(users.CONTROLLER_MANAGER, "kubeconfig-controller-manager")
    arguments = components.controller_manager(manager, pki(folder), ports, wish.extra)
    start("kube-controller-manager", arguments, ports.controller_manager)
    scheduler = config(users.SCHEDULER, "kubeconfig-scheduler")
    start("kube-scheduler", components.scheduler(scheduler, ports, wish.extra), ports.scheduler)
    kwok = config(users.KWOK, "kubeconfig-kwok")
    start("kwok", components.kwok(kwok, ports, wish.extra, wish.stages), ports.kwok)
    pools.create(api, wish.pools)
    until(state, lambda: api.answers("/api/v1/namespaces/default/serviceaccounts/default"), "the controllers at work")
    names = {name for pool in wish.pools for name in pool.node_names}
    until(state, lambda: pools.ready(api, names), f"{len(names)} nodes ready")
    until(state, lambda: healthy(f"http://{ports.kwok.address}/healthz"), "KWOK healthy")


def spawn(state: State, name: str, argv: list[str], env: Mapping[str, str] | None = None) -> Process:
    """Start a component and write it down before anything else happens."""
    process = processes.spawn(name, argv, mark=state.folder, log=log(state.folder, name), env=env or {})
    state.components.append(process)
    state.argv[name] = argv
    state.save()
    return process


def until(state: State, look: Callable[[], bool], what: str) -> None:
    """Wait for a condition of the cluster, or for the death of one of its components."""

    def seen() -> bool:
        for process in state.components:
            if not processes.runs(process):
                raise StartFailed(obituary(state.folder, process.name))
        return look()

    try:
        wait.until(seen, SECONDS, what)
    except wait.TimedOut as error:
        raise StartFailed(f"cluster '{state.name}': {error}\n{_ends(state)}") from None


def restart(state: State, name: str) -> None:
    """A crash and a new life on the same port with the same data."""
    old = next(process for process in state.components if process.name == name)
    old.send(signal.SIGKILL)
    wait.until(lambda: not processes.runs(old), processes.STOP_SECONDS, f"{name} gone")
    state.components.remove(old)
    spawn(state, name, state.argv[name])
    api = Api(state.server, state.tokens[users.ADMIN], pki(state.folder) / "ca.crt")
    until(state, lambda: api.answers("/readyz"), f"the API server ready after {name} was restarted")


def obituary(folder: Path, name: str) -> str:
    """Why a component died, as far as its log tells."""
    return f"{name} died; the end of its log:\n{_log_end(folder, name, 12)}"


def _ends(state: State) -> str:
    return "\n".join(f"  {process.name}:\n{_log_end(state.folder, process.name, 3)}" for process in state.components)


def _log_end(folder: Path, name: str, lines: int) -> str:
    return tail(log(folder, name).read_text(errors="replace"), lines)


def _write_pki(folder: Path) -> None:
    """Two authorities: a client signed by the one must not pass for the front proxy, signed by the other."""
    with ThreadPoolExecutor(4) as pool:  # keys are the slow part, and the library lets go of Python's lock for them
        ca, front = pool.map(authority, ("lockgate-test-ca", "lockgate-test-front-proxy-ca"))
        serving = pool.submit(leaf, ca, "kube-apiserver", SERVING)
        proxy = pool.submit(leaf, front, "front-proxy-client")
        accounts = pool.submit(new_key)
    ca.write(folder, "ca")
    front.write(folder, "front-proxy-ca")
    serving.result().write(folder, "apiserver")
    proxy.result().write(folder, "front-proxy")
    write_secret(folder / "sa.key", key_pem(accounts.result()))


def healthy(url: str) -> bool:
    """Whether a component's plain HTTP health path says yes."""
    try:
        with urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
