"""The command line: `python -m hack.peer`. Made-up clusters, the real Kueue as judge of ours.

Exit codes: 0 no unexplained difference; 1 there is one, told as scenario files; 2 it could not be played.
"""

import argparse
import asyncio
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

from hack.cluster import HackError, Refused
from hack.cluster.cache import cache_dir
from hack.cluster.say import say
from hack.peer import generator, record, telling
from hack.peer.compare import Verdict, judge
from hack.peer.coverage import Coverage
from hack.peer.features import exercised
from hack.peer.live import session
from hack.peer.memory import play_in_memory
from hack.peer.record import Outcomes
from hack.peer.scenario import Scenario
from hack.peer.shrink import Finding, finding, shrink
from hack.peer.sides import KUEUE, LOCKGATE, running

SMOKE = 12  # scenarios: a minute on two idle cores, most of it the control plane
MOST_SHRUNK = 12  # findings of one run; more of them mostly have one cause


def main() -> int:
    """Run it; an expected failure is a message, not a traceback."""
    arguments = _parser().parse_args()
    if arguments.smoke:
        arguments.scenarios, arguments.seed, arguments.settings, arguments.memory = SMOKE, "smoke", "plain", True
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return run(arguments)
    except (HackError, Refused, TimeoutError) as error:
        say(f"error: {error or 'a run did not end in time'}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; everything is cleaned up")
        return 130


def run(arguments: argparse.Namespace) -> int:
    """Play, compare, shrink, tell."""
    began = time.monotonic()
    scenarios, peer = _peer(arguments)
    out: Path = arguments.out / f"seed-{arguments.seed}"
    record.save(out / "kueue.json.gz", scenarios, peer)
    memory = record.in_memory(scenarios, say)
    ours = memory
    if not arguments.memory:
        ours = record.live(LOCKGATE, scenarios, say)
        record.save(out / "lockgate.json.gz", scenarios, ours)
        told = list(_worlds_apart(scenarios, ours, memory))
        say(f"in memory and live, ours shows the same in {len(scenarios) - len(told)} of {len(scenarios)} scenarios")
        for line in told:
            say(f"  {line}")
    verdicts = [judge(one, peer[one.name], ours[one.name]) for one in scenarios if one.name in peer]
    if arguments.peer is None:
        verdicts = _once_more(verdicts, peer, live=not arguments.memory)
        record.save(out / "kueue.json.gz", scenarios, peer)
    open_ = [verdict for verdict in verdicts if verdict.differences]
    _report(scenarios, verdicts, peer)
    if open_:
        found = [finding(verdict) for verdict in open_]
        if arguments.shrink:
            found = _shrunk(found)
        _tell(found, out)
    say(f"{len(scenarios)} scenarios of seed {arguments.seed}: {len(open_)} unexplained differences, "
        f"{time.monotonic() - began:.0f} s")  # fmt: skip
    return 1 if open_ else 0


def _peer(arguments: argparse.Namespace) -> tuple[list[Scenario], Outcomes]:
    if arguments.peer is not None:
        return record.load(arguments.peer)
    scenarios = generator.scenarios(arguments.seed, arguments.scenarios, tuple(arguments.settings.split(",")))
    return scenarios, record.live(KUEUE, scenarios, say)


def _once_more(verdicts: list[Verdict], peer: Outcomes, *, live: bool) -> list[Verdict]:
    """Those that differ are played anew, few at a time, and judged by that: rest is only guessed, and the guess can be
    wrong on a machine out of breath. What the peer shows then takes the place in `peer`."""
    differing = [verdict.scenario for verdict in verdicts if verdict.differences]
    if not differing:
        return verdicts
    peer |= record.live(KUEUE, differing, say)
    ours = record.live(LOCKGATE, differing, say) if live else record.in_memory(differing, say)
    again = {one.name: judge(one, peer[one.name], ours[one.name]) for one in differing if one.name in ours}
    gone = [name for name, verdict in again.items() if not verdict.differences]
    say(f"{len(differing)} scenarios differed, {len(gone)} of them not again: {', '.join(gone)}")
    return [again.get(verdict.scenario.name, verdict) for verdict in verdicts]


def _worlds_apart(scenarios: Iterable[Scenario], live: Outcomes, memory: Outcomes) -> Iterable[str]:
    """Where our core in memory shows something else than our processes."""
    for scenario in scenarios:
        if scenario.name in live:
            verdict = judge(scenario, live[scenario.name], memory[scenario.name], documented=False)
            if verdict.differences:
                yield f"{scenario.name}, moment {verdict.place}: {verdict.differences[0]} (peer: live, ours: in memory)"


def _report(scenarios: list[Scenario], verdicts: list[Verdict], peer: Outcomes) -> None:
    compared = sum(verdict.compared for verdict in verdicts)
    say(f"{compared} moments of {len(verdicts)} scenarios are the same on both sides")
    explained = Counter[str]()
    for verdict in verdicts:
        explained += verdict.explained
    for name, count in explained.most_common():
        say(f"  documented: {name} ({count})")
    coverage = Coverage(exercised(scenario, peer[scenario.name]) for scenario in scenarios if scenario.name in peer)
    for line in coverage.text():
        say(line)


def _shrunk(found: list[Finding]) -> list[Finding]:
    """Against the peer anew; ours in memory, which is quick."""
    small: list[Finding] = []
    for settings in dict.fromkeys(one.scenario.settings for one in found):
        chosen = [one for one in found if one.scenario.settings == settings]
        with running(KUEUE, settings) as cluster:
            small += asyncio.run(_shrink(str(cluster.kubeconfig), chosen[:MOST_SHRUNK]))
        small += chosen[MOST_SHRUNK:]
    return small


async def _shrink(kubeconfig: str, found: list[Finding]) -> list[Finding]:
    async with session(kubeconfig, settling=False) as stage:

        async def judged(candidates: list[Scenario]) -> dict[str, Verdict]:
            peer: Outcomes = {}
            await stage.play(candidates, lambda outcome: peer.update({outcome.scenario: outcome}))
            return {one.name: judge(one, peer[one.name], await asyncio.to_thread(play_in_memory, one))
                    for one in candidates if one.name in peer}  # fmt: skip

        return await shrink(found, judged, say)


def _tell(found: list[Finding], out: Path) -> None:
    for one in found:
        path = out / f"{one.scenario.name}.yaml"
        path.write_text(telling.text(one.scenario, one.verdict))
        say(f"{path}")
        for difference in one.verdict.differences[:3]:
            say(f"    {difference}")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hack.peer", description="Made-up clusters; Kueue is the judge.")
    parser.add_argument("--smoke", action="store_true", help="a few scenarios of a fixed seed: does it work at all?")
    parser.add_argument("--scenarios", type=int, default=500, metavar="N", help="how many (default: %(default)s)")
    parser.add_argument("--seed", default=f"{random.SystemRandom().randrange(10**6)}", help="default: a fresh one")
    parser.add_argument(
        "--settings", default=",".join(generator.SETTINGS), help="Configurations, by turns (default: %(default)s)"
    )
    parser.add_argument("--memory", action="store_true", help="of ours only the core, in memory: no second cluster")
    parser.add_argument("--peer", type=Path, help="outcomes of an earlier run (kueue.json.gz) instead of a new one")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false", help="tell differences as they are")
    parser.add_argument("--out", type=Path, default=cache_dir() / "peer", help="where everything goes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
