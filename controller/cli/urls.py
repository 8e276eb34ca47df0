"""URLs in flags that an API server is told to call: it takes https alone, with nothing but a host and a path."""

from urllib.parse import urlsplit

from controller.cli.complaint import Complaint


def check_url(flag: str, url: str | None) -> None:
    """None: the flag is not given. Raises Complaint."""
    if url is not None and not _called(url):
        raise Complaint(f"--{flag}-url {url!r}: write https://HOST:PORT; API servers call nothing else")


def _called(url: str) -> bool:
    try:
        parts = urlsplit(url)
        where = parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:  # a port that is no number, or brackets around no address
        return False
    return bool(where) and parts.scheme == "https" and not (parts.username or parts.query or parts.fragment)
