"""The TLS context that is being served, and its certificate, which can be replaced at any time.

New handshakes get the new certificate; connections that are open stay as they are.
"""

import asyncio
import hashlib
import os
import ssl
import tempfile
from pathlib import Path

from controller.kit.certificates import Pair


class BadPair(Exception):
    """Certificate and key are unreadable or don't belong together."""


class Serving:
    """`context` is for the server. Nothing is served before the first `load`."""

    def __init__(self, least: str = "VersionTLS12") -> None:
        """`least`: the lowest version of TLS, in Go's words: VersionTLS12 or VersionTLS13."""
        self.context = _context()
        if least == "VersionTLS13":
            self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.loaded = asyncio.Event()
        self._digest = b""

    def load(self, pair: Pair) -> bool:
        """Serve this pair from now on; False if it is the one being served. Raises BadPair, and then keeps the old."""
        digest = hashlib.sha256(pair.certificate + b"\0" + pair.key).digest()
        if digest == self._digest:
            return False
        # OpenSSL reads files only. The folder is ours alone and gone at once.
        with tempfile.TemporaryDirectory(prefix="lockgate-") as folder:
            certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
            for path, content in ((certificate, pair.certificate), (key, pair.key)):
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(content)
            try:
                # First elsewhere: a pair that does not fit would leave the live context with half of it.
                _context().load_cert_chain(certificate, key)
                self.context.load_cert_chain(certificate, key)
            except (ssl.SSLError, OSError, ValueError) as error:
                raise BadPair(f"certificate and key can't be served: {error}") from error
        self._digest = digest
        self.loaded.set()
        return True


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
