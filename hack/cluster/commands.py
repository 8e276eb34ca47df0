"""How the command lines here end: an expected failure is a message and a code, not a traceback."""

import argparse

from hack.cluster.errors import HackError
from hack.cluster.say import say


def perform(parser: argparse.ArgumentParser) -> int:
    """Run the command that the arguments name (its function is their `run`). 0 done, 1 failed, 130 interrupted."""
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except HackError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
