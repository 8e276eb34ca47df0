"""The command line: `python -m hack.demo examples/university`. Whatever happens, no process stays behind."""

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType

from admission.model.durations import BadDuration, duration
from hack.cluster import Cluster, Extra, HackError, Refused
from hack.cluster.say import say
from hack.demo import example
from hack.demo.play import Play

# KWOK's heartbeats come late on a machine out of breath. A node called dead for that touches its pods, and KWOK then
# counts their run times from the start.
PATIENT = Extra(controller_manager=("--node-monitor-grace-period=30m",))


def main() -> int:
    """0: what had to happen did; 1: it did not; 2: it could not be played; 130: interrupted."""
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        pace = _pace(arguments.minute)
        return 0 if play(arguments.folder, pace) else 1
    except (HackError, Refused) as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; everything is cleaned up")
        return 130


def play(folder: Path, pace: float) -> bool:
    """The whole play, from nothing to nothing."""
    script, foretold = example.read(folder, pace), example.foretell(folder)
    _print(f"{folder}: {len(script.entries)} jobs; a minute of the example takes {pace * 60:g} s here")
    _print("starting a control plane (etcd, API server, controllers, scheduler, KWOK nodes) …")
    pools = example.pools(script.queues)
    with Cluster.start(pools=pools, extra=PATIENT) as cluster:
        for pool in pools:
            labels = ", ".join(f"{key}={value}" for key, value in pool.labels.items())
            _print(f"  {pool.count} nodes for flavor {pool.name}" + (f" ({labels})" if labels else ""))
        live = Play(cluster, script, foretold, _print)
        live.prepare()
        return live.run(pace)


def _pace(text: str) -> float:
    try:
        pace = duration(text) / 60
    except BadDuration as error:
        raise HackError(f"--minute: {error}") from error
    if pace <= 0:
        raise HackError(f"--minute {text}: must be longer than nothing; like 1s")
    return pace


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hack.demo", description="An example, live.")
    parser.add_argument("folder", type=Path, help="a folder of manifests, like examples/university")
    parser.add_argument("--minute", default="1s", help="how long a minute of the example lasts (default: %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
