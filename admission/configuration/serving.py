"""`visibilityServer`, `tls` and `queueVisibility`: who is served what, and how."""

import ipaddress

from admission.configuration.fields import Section, nearest, shown

_VERSIONS = ("VersionTLS12", "VersionTLS13")


def read_visibility(file: Section, version: str) -> tuple[str | None, int | None]:
    """Address and port of the visibility API; None: not said."""
    if version == "v1beta1":
        file.without_effect("queueVisibility", "pending workloads are shown by the visibility API instead")
        old = file.part("queueVisibility")
        old.whole("updateIntervalSeconds", None)
        old.part("clusterQueues").whole("maxCount", None)
        return None, None
    section = file.part("visibilityServer")
    host = section.text("bindAddress", None)
    if host is not None:
        try:
            ipaddress.ip_address(host)
        except ValueError:
            section.wrong("bindAddress", f"{shown(host)} is not an IP address", "write one like 0.0.0.0 or ::")
    return host, section.whole("bindPort", None, 1, 65535)


def read_tls(file: Section) -> str | None:
    """The least version of TLS; None: not said."""
    section = file.part("tls")
    section.without_effect("cipherSuites", "OpenSSL's own choice holds")
    section.without_effect("curvePreferences", "OpenSSL's own choice holds")
    for at, curve in enumerate(section.entries("curvePreferences")):
        if not isinstance(curve, int) or isinstance(curve, bool):
            section.report.wrong((*section.path, "curvePreferences", at), f"{shown(curve)} is no id", "write a number")
    least = section.text("minVersion", None)
    if least is not None and least not in _VERSIONS:
        section.wrong("minVersion", f"{shown(least)} is unknown or too old", nearest(least, _VERSIONS, "VersionTLS12"))
    suites = section.texts("cipherSuites")
    if suites and least == "VersionTLS13":
        section.wrong("cipherSuites", "can't be chosen with TLS 1.3", "remove them, or set minVersion to VersionTLS12")
    return least
