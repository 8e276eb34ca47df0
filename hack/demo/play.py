"""The play itself: apply each Job when its time has come, tell what changes, show kubectl's view at telling moments.

At the end the live cluster is held to what `simulate` foretold.
"""

import json
import time
from collections.abc import Callable, Iterator

from hack.cluster import Cluster, HackError, Refused
from hack.cluster.bringup import obituary
from hack.cluster.ports import Port
from hack.demo import parts
from hack.demo.example import Entry, Example, Foretold
from hack.demo.watching import Sight, look

LOOK_SECONDS = 0.25  # between two looks: some ten requests a second, and no state that lasts a second is missed
# A machine out of breath takes long for what a quiet one does at once; only then this is used up.
PATIENCE = 120.0

Say = Callable[[str], None]


class Play:
    """One run on one cluster. `say` prints a line for people."""

    def __init__(self, cluster: Cluster, example: Example, foretold: Foretold, say: Say) -> None:
        self._cluster = cluster
        self._api = cluster.api()
        self._example = example
        self._foretold = foretold
        self._say = say
        self._seen: dict[str, Sight] = {}
        self._began = time.monotonic()
        self._width = max(len(entry.name) for entry in example.entries)

    def prepare(self) -> None:
        """Install, start both processes, make the queues."""
        port = Port()
        url = f"https://{port.address}"
        self._say(f"$ lockgate install --webhook-url={url}")
        parts.install(self._cluster, url)
        self._say("$ lockgate webhooks &")
        parts.start_webhooks(self._cluster, port)
        self._say("$ lockgate controller &")
        parts.start_controller(self._cluster)
        parts.install(self._cluster, url, "--wait=60s")
        self._say(f"$ kubectl apply -f {self._example.folder}   # queues first, then each job when its time has come")
        self._apply(list(self._example.queues))
        queues = [one["metadata"]["name"] for one in self._example.queues if one["kind"] == "ClusterQueue"]
        self._cluster.until(lambda: all(self._active(name) for name in queues), "the queues active")
        self._show("the queues are ready", "get", "clusterqueues,localqueues", "-A")

    def run(self, pace: float) -> bool:
        """Until everything that can finish has; whether what had to happen did. HackError when a part dies."""
        deadline = self._foretold.seconds * pace + PATIENCE
        moments = self._moments()
        moment = next(moments, None)
        waiting = list(self._example.entries)
        self._began = time.monotonic()
        while not self._over(waiting) and self._now() < deadline:
            self._alive()
            if waiting and waiting[0].at <= self._now():
                self._apply([waiting.pop(0).job])
            self._tell(look(self._api))
            if moment and moment[0]():
                self._show(moment[1], "get", "clusterqueues,localqueues,workloads", "-A")
                moment = next(moments, None)
            time.sleep(LOOK_SECONDS)
        self._show("the end", "get", "jobs,workloads", "-A")
        return self._judge()

    # --- telling

    def _moments(self) -> Iterator[tuple[Callable[[], bool], str]]:
        """When kubectl's view is worth a look, in this order."""
        if self._foretold.evicted:
            yield (
                lambda: any(one.state == "preempted" and not one.holds_quota for one in self._seen.values()),
                "the owner has its quota back; who borrowed it waits again",
            )
        yield lambda: len(self._seen) == len(self._example.entries), "everybody is here"

    def _tell(self, sights: dict[str, Sight]) -> None:
        for name, now in sights.items():
            before = self._seen.get(name)
            if before and (before.state, now.state) == ("running", "admitted"):
                continue  # its pods have ended, and the Job has yet to count them
            if before is None or before.state != now.state or (now.state == "held" and before.why != now.why):
                self._say(f"{self._now():6.1f}s  {name:<{self._width}}  {now.state:<9}  {now.why}".rstrip())
            self._seen[name] = now

    def _show(self, title: str, *arguments: str) -> None:
        self._say(f"\n--- {title}\n$ kubectl {' '.join(arguments)}")
        self._say(parts.kubectl(self._cluster, *arguments))

    def _now(self) -> float:
        return time.monotonic() - self._began

    # --- acting

    def _apply(self, manifests: list[dict[str, object]]) -> None:
        parts.kubectl(self._cluster, "apply", "-f", "-", manifest="\n".join(map(json.dumps, manifests)))

    def _active(self, queue: str) -> bool:
        try:
            status = self._api.get(f"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{queue}").get("status") or {}
        except Refused:
            return False
        return any(one["type"] == "Active" and one["status"] == "True" for one in status.get("conditions") or ())

    def _alive(self) -> None:
        """The product's own processes must live through the whole play."""
        for name in (parts.CONTROLLER, parts.WEBHOOKS):
            if not self._cluster.component(name).alive:
                raise HackError(obituary(self._cluster.folder, name))

    # --- judging

    def _over(self, waiting: list[Entry]) -> bool:
        return not waiting and self._foretold.finished <= self._in("finished")

    def _in(self, *states: str) -> set[str]:
        return {name for name, one in self._seen.items() if one.state in states}

    def _judge(self) -> bool:
        finished, held = self._in("finished"), self._in("held", "preempted")
        evicted = {name for name, one in self._seen.items() if one.evicted}
        self._say(f"{len(self._seen)} jobs in {self._now():.0f} s: {len(finished)} finished, {len(held)} held")
        self._say(f"preempted on the way: {', '.join(sorted(evicted)) or 'nobody'}")
        for name in sorted(held):
            self._say(f"{name} still waits: {self._seen[name].why}")
        faults = [
            f"{name} has not finished, it is {self._seen[name].state if name in self._seen else 'not there'}"
            for name in sorted(self._foretold.finished - finished)
        ]
        faults += [f"{name} should wait for ever, and does not" for name in sorted(self._foretold.waiting - held)]
        if self._foretold.evicted and not evicted:
            faults.append(f"nobody was preempted; foretold: {', '.join(sorted(self._foretold.evicted))}")
        for fault in faults:
            self._say(f"NOT as foretold: {fault}")
        if not faults:
            self._say("All as `lockgate simulate` foretold.")
        return not faults
