"""The body of a request, no larger than it may be."""

from aiohttp import web


async def body_of(http: web.Request, most: int) -> bytes:
    """Read past aiohttp's own `read`: with that the request would keep the body, and its connection the request."""
    check_size(http.content_length or 0, most)
    chunks, size = [], 0
    async for chunk in http.content.iter_any():
        size += len(chunk)
        check_size(size, most)
        chunks.append(chunk)
    return b"".join(chunks)


def check_size(size: int, most: int) -> None:
    """In bytes. Raises what becomes a 413."""
    if size > most:
        raise web.HTTPRequestEntityTooLarge(max_size=most, actual_size=size)
