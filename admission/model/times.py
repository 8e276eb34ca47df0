"""Kubernetes timestamps as seconds since 1970 (UTC) and back. The core never asks what time it is."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_START = datetime(1970, 1, 1, tzinfo=UTC)


class BadTime(ValueError):
    """The text is not an RFC 3339 time."""


@lru_cache(maxsize=4096)
def seconds(stamp: str) -> float:
    """Seconds since 1970 of an RFC 3339 time. Raises BadTime."""
    try:
        moment = datetime.fromisoformat(stamp)
    except (ValueError, TypeError) as error:
        raise BadTime(f"{stamp!r} is not a time like 2026-01-02T15:04:05Z") from error
    if moment.tzinfo is None:
        raise BadTime(f"{stamp!r} lacks a time zone: write it like 2026-01-02T15:04:05Z")
    return (moment - _START).total_seconds()


@lru_cache(maxsize=4096)
def stamp(moment: float) -> str:
    """The time as Kubernetes writes it: whole seconds, rounded down."""
    return (_START + timedelta(seconds=moment // 1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_stamp(moment: float) -> str:
    """The time as a MicroTime (leases, events)."""
    return (_START + timedelta(seconds=moment)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
