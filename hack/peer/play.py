"""Plays one scenario on a stage: an event, rest, a look; then whoever was evicted gives its quota back, one by one.

The same for all stages, so that nothing but the product differs.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from admission.world.objects import holds
from hack.peer.outcome import Moment, Outcome, snapshot
from hack.peer.scenario import Event, Manifest, Scenario, named

KINDS = ("Workload", "ClusterQueue", "LocalQueue", "Cohort")
# Who is evicted again and again as soon as it has left, without anything else happening, goes round in circles.
MOST_RELEASES = 24


class Stage(Protocol):
    """A control plane, in the names of the scenario. Requests give "" or how they were refused."""

    async def create(self, manifest: Manifest) -> str: ...

    async def patch(self, ref: str, body: Any, subresource: str = "") -> str: ...

    async def delete(self, ref: str) -> str: ...

    async def finish(self, ref: str) -> str: ...

    async def release(self, ref: str) -> str: ...

    async def rest(self) -> bool:
        """Whether it came to rest."""
        ...

    def objects(self, kind: str) -> Iterable[Manifest]: ...

    @property
    def circling(self) -> list[str]:
        """Workloads that rest although their scan of flavors would go on; as far as it can be seen."""
        ...

    @property
    def stirs(self) -> str:
        """What kept it from coming to rest."""
        ...

    @property
    def now(self) -> str:
        """As Kubernetes writes times."""
        ...


async def play(scenario: Scenario, stage: Stage) -> Outcome:
    """All of it, or as far as it came."""
    run = _Run(scenario, stage)
    try:
        await run.all()
    except Exception as error:  # whatever breaks is a finding about this scenario, not the end of the others
        run.outcome.broken = f"{type(error).__name__}: {error}"
    return run.outcome


class _Run:
    def __init__(self, scenario: Scenario, stage: Stage) -> None:
        self.scenario = scenario
        self.stage = stage
        self.outcome = Outcome(scenario.name)

    async def all(self) -> None:
        refused = [answer for one in self.scenario.first if (answer := await self.stage.create(one))]
        if not await self._look(-1, "", {}, "; ".join(refused)):
            return
        for index, event in enumerate(self.scenario.events):
            happens = self._resolved(event)
            happens = self._spelled(happens) if happens else {}
            answer = await self._do(happens) if happens else ""
            if happens and not await self._look(index, "", happens, answer):
                return
            if not event.get("hold") and not await self._release_all(index):
                return

    async def _release_all(self, index: int) -> bool:
        for _ in range(MOST_RELEASES):
            held = sorted(named(one) for one in self.stage.objects("Workload") if is_held(one))
            if not held:
                return True
            answer = await self.stage.release(held[0])
            if not await self._look(index, held[0], {"op": "job-stopped", "ref": held[0]}, answer):
                return False
        self.outcome.moments[-1].restless = "evictions without end"
        return False

    async def _look(self, index: int, released: str, what: Mapping[str, Any], answer: str) -> bool:
        at_rest = await self.stage.rest()
        shows = snapshot({kind: list(self.stage.objects(kind)) for kind in KINDS})
        stirs = "" if at_rest else self.stage.stirs
        self.outcome.moments.append(Moment(index, released, what, answer, stirs, shows, self.stage.circling))
        return at_rest

    def _resolved(self, event: Event) -> dict[str, Any]:
        """The event as it happens now; {}: there is nobody to whom it could."""
        known = {key: value for key, value in event.items() if key not in ("pick", "hold")}
        if "pick" not in event:
            return known
        fitting = sorted(
            (named(one) for one in self.stage.objects("Workload") if is_in(one, event["pick"]["state"])), key=_place
        )
        if not fitting:
            return {}
        known["ref"] = fitting[event["pick"]["index"] % len(fitting)]
        return known

    def _spelled(self, event: dict[str, Any]) -> dict[str, Any]:
        """What people who tell pods or checks write, as the patch that it is."""
        match event["op"]:
            case "reclaimable":
                body = _reclaimable(self._workload(event["ref"]), event["count"])
            case "check":
                body = _checked(self._workload(event["ref"]), event)
            case _:
                return event
        return {"op": "patch", "ref": event["ref"], "subresource": "status", "patch": body}

    async def _do(self, event: Event) -> str:
        ref = event.get("ref", "")
        match event["op"]:
            case "create":
                return await self.stage.create(self.scenario.manifest(ref))
            case "patch":
                body = dated(event["patch"], self.stage.now) if "subresource" in event else event["patch"]
                return await self.stage.patch(ref, body, event.get("subresource", ""))
            case "json-patch":
                return await self.stage.patch(ref, event["patch"])
            case "delete":
                return await self.stage.delete(ref)
            case "finish":
                return await self.stage.finish(ref)
            case "tick":
                return ""
            case op:
                raise ValueError(f"op {op}: not played here")

    def _workload(self, ref: str) -> Manifest:
        return next(one for one in self.stage.objects("Workload") if named(one) == ref)


def is_held(workload: Manifest) -> bool:
    """Evicted, and its quota not given back yet."""
    return holds(workload, "Evicted") and holds(workload, "QuotaReserved") and not holds(workload, "Finished")


def is_in(workload: Manifest, state: str) -> bool:
    """The states that `pick` knows."""
    if holds(workload, "Finished") or workload["metadata"].get("deletionTimestamp"):
        return False
    active = (workload.get("spec") or {}).get("active", True)
    match state:
        case "admitted":
            return holds(workload, "Admitted") and not holds(workload, "Evicted")
        case "reserved":
            return holds(workload, "QuotaReserved") and not holds(workload, "Evicted")
        case "pending":
            return active and not holds(workload, "QuotaReserved")
        case "checking":
            return holds(workload, "QuotaReserved") and not holds(workload, "Evicted") and bool(_open_checks(workload))
        case "inactive":
            return not active
        case "any":
            return True
    raise ValueError(f"state {state}: nobody is ever in it")


def _place(name: str) -> tuple[int, str]:
    return len(name), name


def _reclaimable(workload: Manifest, more: int) -> dict[str, Any]:
    """So many more pods of every pod set have ended."""
    before = {one["name"]: one["count"] for one in (workload.get("status") or {}).get("reclaimablePods") or ()}
    pods = [
        {"name": one["name"], "count": min(one.get("count", 1), before.get(one["name"], 0) + more)}
        for one in workload["spec"]["podSets"]
    ]
    return {"status": {"reclaimablePods": pods}}


def _open_checks(workload: Manifest) -> list[dict[str, Any]]:
    return [
        dict(one) for one in (workload.get("status") or {}).get("admissionChecks") or () if one["state"] == "Pending"
    ]


def _checked(workload: Manifest, event: Event) -> dict[str, Any]:
    """The first check that nobody has answered gets this state, or all of them."""
    answered = [one["name"] for one in _open_checks(workload)]
    chosen = answered if event.get("all") else answered[:1]
    checks = []
    for one in workload["status"]["admissionChecks"]:
        said = {"state": event["state"], "message": f"said {event['state']}", **event.get("more", {})}
        kept = {key: value for key, value in one.items() if key != "lastTransitionTime"}
        checks.append({**kept, **said} if one["name"] in chosen else dict(one))
    return {"status": {"admissionChecks": checks}}


def dated(body: Any, now: str) -> Any:
    """With the present moment where conditions and states of checks have none."""
    if isinstance(body, list):
        return [dated(one, now) for one in body]
    if not isinstance(body, dict):
        return body
    filled = {key: dated(value, now) for key, value in body.items()}
    if ("status" in body and "type" in body) or "state" in body:
        filled.setdefault("lastTransitionTime", now)
    return filled
