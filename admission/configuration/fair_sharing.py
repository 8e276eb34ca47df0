"""`fairSharing` and `admissionFairSharing`: both are off where the section is absent."""

from fractions import Fraction

from admission.configuration.fields import Section, is_number, shown
from admission.configuration.names import check_resource
from admission.model.configuration import FINAL_SHARE, INITIAL_SHARE, AdmissionFairSharing, FairSharing

_STRATEGIES = ((FINAL_SHARE,), (INITIAL_SHARE,), (FINAL_SHARE, INITIAL_SHARE))
_REMEDY = "write one of " + ", ".join(f"[{', '.join(one)}]" for one in _STRATEGIES)


def read_fair_sharing(section: Section, version: str) -> FairSharing | None:
    """v1beta1 has a switch and knows what strategies it means; in v1beta2 the section itself is the switch."""
    early = version == "v1beta1"
    on = section.flag("enable", False) if early else section.present
    strategies = section.texts("preemptionStrategies")
    if not on:
        return None
    if not strategies and not early:
        section.wrong("preemptionStrategies", "is missing", _REMEDY)
    if strategies and strategies not in _STRATEGIES:
        section.wrong("preemptionStrategies", f"{shown(list(strategies))} can't be followed", _REMEDY)
        strategies = ()
    return FairSharing(strategies) if strategies else FairSharing()


def read_admission_fair_sharing(section: Section) -> AdmissionFairSharing | None:
    usual = AdmissionFairSharing()
    read = AdmissionFairSharing(
        usage_half_life=section.seconds("usageHalfLifeTime", usual.usage_half_life),
        usage_sampling_interval=section.seconds("usageSamplingInterval", 0.0) or usual.usage_sampling_interval,
        resource_weights=_weights(section),
    )
    return read if section.present else None


def _weights(section: Section) -> dict[str, Fraction]:
    weights = {}
    for resource, value in section.table("resourceWeights").items():
        path = (*section.path, "resourceWeights", resource)
        check_resource(section, ("resourceWeights", resource), resource)
        if not is_number(value):
            section.report.wrong(path, f"{shown(value)} is not a number", "write one from 0, without quotes")
        elif value < 0:
            section.report.wrong(path, f"{value} is negative", "write a number from 0")
        else:
            weights[resource] = Fraction(str(value))
    return weights
