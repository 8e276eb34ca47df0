"""A difference as a scenario file that `lockgate test` runs: what the peer shows at the moment is what is expected.

Evicted workloads let go in the same order as in the run; where both did so, the file is exact.
"""

from typing import Any

import yaml

from hack.peer.compare import Verdict
from hack.peer.outcome import Moment
from hack.peer.scenario import Scenario
from hack.peer.settings import FILES, HEAD
from hack.peer.view import Difference

STEP = 10  # virtual seconds between two events


def text(scenario: Scenario, verdict: Verdict) -> str:
    """The file; its expectations fail as long as the difference is there, where they can be put into words."""
    return "".join(f"# {line}\n" for line in _head(verdict)) + yaml.safe_dump(
        _file(scenario, verdict), sort_keys=False, width=140, default_flow_style=None
    )


def _head(verdict: Verdict) -> list[str]:
    moment = verdict.moment
    told = "" if moment is None else f" after {moment.what.get('op', 'the start')} {moment.what.get('ref', '')}"
    return [f"{verdict.scenario.name}: moment {verdict.place}{told}", *map(str, verdict.differences[:8])]


def _file(scenario: Scenario, verdict: Verdict) -> dict[str, Any]:
    moments = verdict.peer.moments[: verdict.place + 1]
    file: dict[str, Any] = {
        "id": "C900",
        "source": "https://kueue.sigs.k8s.io/docs/",
        "area": "fair-sharing" if scenario.settings == "fair" else "preemption",
        "confidence": "high",
        "needs": [],
        "gist": f"Found by comparing with Kueue 0.19.2 ({verdict.scenario.name}).",
        "why": "This is what Kueue does.",
    }
    if FILES[scenario.settings]:
        file["config"] = {**HEAD, **FILES[scenario.settings]}
    events = [event for number, moment in enumerate(moments) for event in _event(number * STEP, moment)]
    file |= {
        "objects": [dict(one) for one in scenario.objects],
        "events": events or [{"t": 0, "op": "tick"}],
        "expect": list(_expected((len(moments) - 1) * STEP, moments, verdict.differences)),
    }
    return file


def _event(t: int, moment: Moment) -> list[dict[str, Any]]:
    what = dict(moment.what)
    if moment.event < 0 or not what:
        return [{"t": t, "op": "tick"}]
    return [{"t": t, **what}]


def _expected(t: int, moments: list[Moment], differences: tuple[Difference, ...]) -> list[dict[str, Any]]:
    """The state of every workload whose conditions differ, as the peer shows it."""
    if not moments:
        return [{"at": 0, "count": {"of": "workloads"}, "min": 0}]
    shows = moments[-1].shows["workloads"]
    names = dict.fromkeys(one.path[1] for one in differences if one.path[0] == "workloads" and one.path[1] in shows)
    found = []
    for name in names:
        true = {which for which, one in shows[name]["conditions"].items() if one[0] == "True"}
        state = next(
            word
            for which, word in (("Finished", "finished"), ("Evicted", "evicted"), ("Admitted", "admitted"),
                               ("QuotaReserved", "quotaReserved"), ("", "pending"))
            if which in true or not which
        )  # fmt: skip
        entry: dict[str, Any] = {"at": t, "workload": name, "state": state}
        if "admission" in shows[name] and state in ("admitted", "quotaReserved"):
            sets = shows[name]["admission"]["podSets"]
            entry["flavors"] = {which: one["flavors"] for which, one in sets.items()}
            entry["counts"] = {which: one["count"] for which, one in sets.items()}
        found.append(entry)
    return found or [{"at": t, "count": {"of": "workloads"}, "min": 0}]
