"""The command line: `python -m hack.bench`. The contestants run one after the other, each on a fresh control plane."""

import argparse
import json
import signal
import sys
from pathlib import Path
from types import FrameType

from rich.console import Console

from hack.bench import mix, report, run
from hack.bench.contestants import KUEUE, LOCKGATE, Contestant
from hack.bench.driver import Stalled
from hack.bench.run import Result
from hack.cluster import HackError, Refused
from hack.cluster.cache import cache_dir
from hack.cluster.say import say
from hack.kueue import generator_yaml

# Kueue 0.19 can lose Workloads that are evicted at the moment when the API server ends its watch (as it does after an
# update of their CRD): they stay "already accounted in cache" for ever. One short run in some forty ended so.
KUEUE_ATTEMPTS = 3
SMOKE_SCALE = 0.02  # 330 workloads: it shows that everything works, and says nothing about speed


def main() -> int:
    """0 when every run came to its end, whether targets are met or not; 2 when one did not; 130 when interrupted."""
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        bench(arguments)
    except (HackError, Refused) as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; everything is cleaned up")
        return 130
    return 0


def bench(arguments: argparse.Namespace) -> None:
    """All runs, then the tables and the JSON file."""
    scale = SMOKE_SCALE if arguments.smoke else arguments.scale
    played = mix.read(generator_yaml(arguments.mix), scale)
    contestants = [one for one in (KUEUE, LOCKGATE) if arguments.only in (None, one.name)]
    results: list[Result] = []
    for _ in range(arguments.repeat):
        for contestant in contestants:
            result = _play(contestant, played)
            say(f"{contestant.name}: {result.wall:.0f} s")
            results.append(result)
    report.show(results, Console(width=120))
    out = arguments.out or cache_dir() / "bench" / "latest.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    told = {
        "mix": arguments.mix,
        "scale": scale,
        "machine": report.machine(),
        "results": [result.as_json() for result in results],
    }
    out.write_text(json.dumps(told, indent=1))
    say(f"everything as JSON: {out}")


def _play(contestant: Contestant, played: mix.Mix) -> Result:
    """Stalled of ours is a fault of ours, and ends everything. Of Kueue it ends one attempt."""
    for _ in range(KUEUE_ATTEMPTS - 1 if contestant is KUEUE else 0):
        try:
            return run.play(contestant, played, say)
        except Stalled as error:
            say(f"{contestant.name} came to a halt, it plays once more: {error}")
    return run.play(contestant, played, say)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hack.bench", description="Lockgate against the real Kueue.")
    parser.add_argument("--smoke", action="store_true", help="a few hundred workloads: does it work at all?")
    parser.add_argument("--scale", type=_scale, default=1.0, help="fewer workloads, same shape: 0.1 (default: 1)")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="medians over N runs of each")
    parser.add_argument("--only", choices=[KUEUE.name, LOCKGATE.name], help="one contestant alone")
    parser.add_argument("--mix", choices=["baseline", "large-scale"], default="baseline", help="whose load is played")
    parser.add_argument("--out", type=Path, help="where the JSON goes (default: the user's cache)")
    return parser


def _scale(text: str) -> float:
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0 < scale <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0 and at most 1")
    return scale


if __name__ == "__main__":
    sys.exit(main())
