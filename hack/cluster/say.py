"""Progress lines, on standard error: standard output is for what scripts read (a kubeconfig's path)."""

import sys


def say(line: str) -> None:
    """Tell the person waiting one thing."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
