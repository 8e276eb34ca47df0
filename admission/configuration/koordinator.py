"""The flags that say how Koordinator's words are taken: they are no business of Kueue's Configuration file.

--koordinator-preset strict --koordinator-bands Prod=9000-9999,Batch=5000-5999
"""

import re

from admission.model.qos import BANDS, PRESETS, Bands, Koordinator, PriorityBand

_RANGE = re.compile(r"\s*(\w+)\s*=\s*(\d{1,10})-(\d{1,10})\s*")
_HIGHEST = 10**9  # of a priority that users may give; Kubernetes keeps those above for itself


class BadKoordinator(ValueError):
    """Names the flag, its value and the remedy."""


def read_koordinator(preset: str | None = None, bands: str | None = None) -> Koordinator:
    """None: the defaults. Raises BadKoordinator."""
    chosen = next((one for one in PRESETS if one == (preset or PRESETS[0])), None)
    if chosen is None:
        raise BadKoordinator(f"--koordinator-preset {preset}: must be {' or '.join(PRESETS)}")
    return Koordinator(chosen, _bands(bands) if bands else BANDS)


def _bands(stated: str) -> Bands:
    found = {band.name: band for band in BANDS}
    for part in stated.split(","):
        match = _RANGE.fullmatch(part)
        if match is None or match[1] not in found:
            raise BadKoordinator(
                f"--koordinator-bands {part}: must be one of {', '.join(found)} and a range, like Batch=5000-5999"
            )
        found[match[1]] = _ranged(found[match[1]], int(match[2]), int(match[3]), part)
    bands = tuple(found.values())
    for at, one in enumerate(bands):
        for other in bands[at + 1 :]:
            if one.lowest <= other.highest and other.lowest <= one.highest:
                raise BadKoordinator(
                    f"--koordinator-bands {stated}: {one.name} and {other.name} share priorities: keep them apart"
                )
    return bands


def _ranged(band: PriorityBand, lowest: int, highest: int, part: str) -> PriorityBand:
    if not lowest <= highest <= _HIGHEST:
        raise BadKoordinator(f"--koordinator-bands {part}: must go up, to {_HIGHEST} at most")
    return band._replace(lowest=lowest, highest=highest, default=(lowest + highest + 1) // 2)
