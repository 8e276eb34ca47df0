"""One cluster: start it, use it, end it. The front of this package for tests and for the command line."""

import os
import secrets
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from hack.cluster import bringup, processes, state, wait
from hack.cluster.api import Api
from hack.cluster.bringup import Wish
from hack.cluster.components import NOTHING, Extra
from hack.cluster.errors import HackError
from hack.cluster.pools import Pool
from hack.cluster.processes import Process, Usage
from hack.cluster.state import State
from hack.cluster.users import ADMIN, write_kubeconfig
from hack.cluster.watchdog import Watchdog


class Cluster:
    """A running cluster. Ends with `stop`, with its `with` block, or with the process that started it."""

    def __init__(self, record: State, watchdog: Watchdog | None = None) -> None:
        self._state = record
        self._watchdog = watchdog

    @classmethod
    def start(
        cls,
        name: str | None = None,
        *,
        nodes: int = 0,
        gpus: int = 0,
        pools: Iterable[Pool] = (),
        users: Iterable[str] = (),
        extra: Extra = NOTHING,
        stages: Iterable[Path] = (),
        folder: Path | None = None,
        detach: bool = False,
    ) -> Self:
        """Build what is missing, start everything, wait until it serves and its nodes are ready.

        `nodes` and `gpus` are a short way to ask for one pool; `users` are `name[:group,…]`, each gets a token;
        `folder` is the parent of the cluster's own folder; a detached cluster stays until somebody ends it.
        """
        plain = (Pool(count=nodes, resources={"nvidia.com/gpu": str(gpus)} if gpus else {}),) if nodes else ()
        wish = Wish((*plain, *pools), tuple(users), extra, tuple(stages))
        binaries = bringup.build()  # before anything of the cluster exists: it may take minutes, or fail
        record = state.claim(name or f"test-{os.getpid()}-{secrets.token_hex(3)}", folder or state.clusters_dir())
        watchdog = Watchdog(record.folder)
        try:
            bringup.bring_up(record, wish, binaries)
        except BaseException:
            record.end()
            watchdog.dismiss()
            raise
        if detach:
            record.owner = None
            record.save()
            watchdog.dismiss()
            return cls(record)
        return cls(record, watchdog)

    @classmethod
    def open(cls, name: str, folder: Path | None = None) -> Self:
        """A cluster that somebody else started; FileNotFoundError when there is none."""
        return cls(state.load((folder or state.clusters_dir()).resolve() / name))

    @property
    def name(self) -> str:
        """Its name: the last part of its folder."""
        return self._state.name

    @property
    def folder(self) -> Path:
        """Certificates, logs (`log/`), etcd's data: all gone after `stop`."""
        return self._state.folder

    @property
    def server(self) -> str:
        """The API server's URL."""
        return self._state.server

    @property
    def token(self) -> str:
        """The administrator's token."""
        return self._state.tokens[ADMIN]

    @property
    def tokens(self) -> dict[str, str]:
        """Every user's token."""
        return dict(self._state.tokens)

    @property
    def ca_file(self) -> Path:
        """The authority that signed the API server's certificate."""
        return bringup.pki(self.folder) / "ca.crt"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def etcd_endpoint(self) -> str:
        """etcd's client URL, plain HTTP; its JSON gateway is below /v3/."""
        return self._state.etcd

    def api(self, user: str = ADMIN) -> Api:
        """Calls as one of the users."""
        return Api(self.server, self._state.tokens[user], self.ca_file)

    def kubeconfig_for(self, user: str, token: str | None = None) -> Path:
        """A kubeconfig of a user of ours, or of anybody whose token is given (a service account's, say)."""
        path = self.folder / f"kubeconfig-{user.replace('/', '_').replace(':', '_')}"
        return write_kubeconfig(path, self.server, self.ca_file, token or self._state.tokens[user])

    def usage(self) -> dict[str, Usage]:
        """CPU and memory of each running component so far."""
        measured = {process.name: processes.usage(process) for process in self._state.components}
        return {name: used for name, used in measured.items() if used}

    def component(self, name: str) -> Process:
        """One component's process, by its command's name."""
        for process in self._state.components:
            if process.name == name:
                return process
        raise HackError(f"cluster '{self.name}' has no component '{name}': it was not started, or was removed")

    def signal(self, name: str, number: signal.Signals) -> None:
        """Trouble on purpose: SIGSTOP makes a component hang, SIGCONT goes on, SIGKILL crashes it."""
        self.component(name).send(number)

    def restart(self, name: str) -> None:
        """Kill a component if it runs, start it with the same arguments, and wait until it is ready again."""
        bringup.restart(self._state, name)

    def add(self, name: str, argv: list[str], env: dict[str, str] | None = None) -> Process:
        """Run a further daemon as part of this cluster: it is listed, measured, and ends with it."""
        return bringup.spawn(self._state, name, argv, env or {})

    def remove(self, name: str) -> None:
        """End one component and forget it."""
        process = self.component(name)
        process.send(signal.SIGKILL)
        wait.until(lambda: not processes.runs(process), processes.STOP_SECONDS, f"{name} gone")
        self._state.components.remove(process)
        self._state.save()

    def log(self, name: str) -> Path:
        """A component's output."""
        return bringup.log(self.folder, name)

    def until(self, look: Callable[[], bool], what: str) -> None:
        """Wait for a condition; StartFailed as soon as a component dies, or when it takes too long."""
        bringup.until(self._state, look, what)

    def stop(self) -> None:
        """End every process, wait till they are gone, remove the folder. Harmless when done twice."""
        self._state.end()
        if self._watchdog:
            self._watchdog.dismiss()
            self._watchdog = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
