"""What can go wrong while building or running real parts; every message ends with what to do about it."""


class HackError(Exception):
    """Base of all: shown by the command line without a traceback."""


class BuildFailed(HackError):
    """A part could not be built."""


class StartFailed(HackError):
    """A component died or did not become ready."""


def tail(text: str, lines: int = 25) -> str:
    """The end of an output, where the reason usually is."""
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])
