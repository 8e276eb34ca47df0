"""The TLS context that is being served, and its certificate, which can be replaced at any time: by an authority of our
own, or by files that others renew.

New handshakes get the new certificate; connections that are open stay as they are.
"""

import asyncio
import hashlib
import ssl
from pathlib import Path

from controller.kit.certificates import Pair, load_chain
from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log

FILES_SECONDS = 2.0  # between looks at the folder: two small files

log = Log("kit.serving")


class BadPair(Exception):
    """Certificate and key are unreadable or don't belong together."""


class Serving:
    """`context` is for the server. Nothing is served before the first `load`."""

    def __init__(self, least: str = "VersionTLS12", *, asks: bool = False) -> None:
        """`least`: the lowest version of TLS, in Go's words: VersionTLS12 or VersionTLS13. `asks`: for a certificate of
        the client, of an authority that it is told to `trust`; who has none may come all the same."""
        self.context = _context()
        if asks:
            self.context.verify_mode = ssl.CERT_OPTIONAL
        if least == "VersionTLS13":
            self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.loaded = asyncio.Event()
        self._digest = b""

    def load(self, pair: Pair) -> bool:
        """Serve this pair from now on; False if it is the one being served. Raises BadPair, and then keeps the old."""
        digest = hashlib.sha256(pair.certificate + b"\0" + pair.key).digest()
        if digest == self._digest:
            return False
        try:
            # First elsewhere: a pair that does not fit would leave the live context with half of it.
            load_chain(_context(), pair)
            load_chain(self.context, pair)
        except (ssl.SSLError, OSError, ValueError) as error:
            raise BadPair(f"certificate and key can't be served: {error}") from error
        self._digest = digest
        self.loaded.set()
        return True

    def trust(self, authority: str) -> None:
        """Clients may come with certificates of this authority, too; those trusted before stay so until a restart.

        Raises BadPair."""
        try:
            self.context.load_verify_locations(cadata=authority)
        except (ssl.SSLError, ValueError) as error:
            raise BadPair(f"an authority of clients can't be read: {error}") from error


class Files:
    """`tls.crt` and `tls.key` of a folder, by cert-manager or by hand. Whoever makes them also has them trusted."""

    def __init__(self, folder: Path, serving: Serving, clock: Clock = SYSTEM) -> None:
        self._folder = folder
        self._serving = serving
        self._clock = clock
        self._complained = ""

    async def run(self) -> None:
        """For ever; a pair that is half written is passed over until it fits."""
        while True:
            await self._clock.sleep(FILES_SECONDS)
            try:
                if self.step():
                    log.info("serving a new certificate", folder=str(self._folder))
                self._complained = ""
            except BadPair as error:
                if str(error) != self._complained:
                    log.warning("the new certificate is not served, the old one stays", why=str(error))
                self._complained = str(error)

    def step(self) -> bool:
        """One look; whether the pair was new. Raises BadPair."""
        try:
            pair = Pair((self._folder / "tls.crt").read_bytes(), (self._folder / "tls.key").read_bytes())
        except OSError as error:
            raise BadPair(f"certificate and key can't be read: {error}") from error
        return self._serving.load(pair)


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
