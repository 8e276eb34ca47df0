"""`python -m webhooks`: a process of its own, so that a scheduling cycle never delays an API request."""

import asyncio
import sys

from controller.kit import logs
from controller.kit.serving import BadPair
from controller.kube.client import NoCredentials
from controller.kube.configuration import BadConfiguration
from webhooks.server import run
from webhooks.settings import BadSetting, parse


def main() -> int:
    """The exit code: 0 when told to stop, 2 when it could not start."""
    settings = parse(sys.argv[1:])
    logs.start()
    try:
        asyncio.run(run(settings))
    except (BadConfiguration, BadSetting, NoCredentials, BadPair, OSError) as error:
        print(f"lockgate webhooks: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
