"""Identifiers of machines and people on a network: URLs with credentials, e-mail, IP and MAC addresses, host names.

A version number may look like an address (3.9.0.1), a C++ name like IPv6 (``a::b``), a matrix product like e-mail
(``a@b.T``): each rule states its exceptions."""

from __future__ import annotations

import ipaddress
import re

from triage.publish.privacy.rule import ScrubRule, removed

_URL = re.compile(
    r"\b(?P<scheme>[a-z][a-z0-9+.-]{1,30}://)(?P<login>[^\s/?#\"'<>@]{1,512}@)(?P<rest>[^\s\"'<>`]{0,2048})",
    re.IGNORECASE,
)
_QUERY = re.compile(
    r"(?P<before>[?&;](?:[\w.-]{0,40}(?:token|secret|password|passwd|signature|credential|api[_-]?key|access[_-]?key)|sig|sign|key|auth|code|session|jwt)=)(?P<value>[^\s&\"'<>`#]{4,2048})",
    re.IGNORECASE,
)
_EMAIL = re.compile(
    r"(?<![\w.+%-])(?P<local>[\w.+%-]{1,64})@(?P<host>(?:[^\W_][\w-]{0,62}\.){1,8}(?P<top>[^\W\d_]{2,24}))(?![\w(\[@-])(?!\.\w)"
)
_PROMPT = re.compile(
    r"(?<![\w.@%-])(?!git@)[a-z_][\w.-]{0,31}@[\w-][\w.-]{0,62}(?=:[~/][^\s]{0,255}[#$])", re.MULTILINE
)
_REMOTE = r"(?<![\w.@-])[\w.-]{1,32}@[\w.-]{2,253}:(?!\d{1,9}\b)[\w./~-]{2,255}"

_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)")
_VERSION_BEFORE = re.compile(
    r"(?:[=<>~!]=|[-_@]|\b(?:versions?|release|v|triton|torch|pytorch|cuda|cudnn|cublas|nccl|ptxas|nvcc|nvrtc|llvm|mlir|clang|gcc|python"
    r"|driver|rocm|hip|nvidia|toolkit|build|wheel|kernel)[\s:=\"'(,]{0,4}(?:is |to |from |and |v)?)$",
    re.IGNORECASE,
)
_TRITON_RELEASE = re.compile(r"3\.\d{1,2}\.\d\.\d{1,2}")
_ADDRESS_BEFORE = re.compile(
    r"(?:://|@|\b(?:ip|addr(?:ess)?|host|server|peer|to|from|at|on|connect(?:ed|ing)?)[\s:=\"'(]{1,4})$", re.IGNORECASE
)
_ADDRESS_AFTER = re.compile(r":\d{2,5}\b|/(?:[12]?\d|3[0-2])\b")
_NEAR = 24
"""Characters of context before a number that show what it is."""

_IPV6 = re.compile(
    r"(?<![\w:.%$@])[23f][0-9a-f]{3}:(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{0,4}(?:%\w{1,15})?(?![\w:])", re.IGNORECASE
)
_MAC = (
    r"(?<![\w:.-])(?:[0-9a-f]{2}(?:(?::[0-9a-f]{2}){5}|(?:-[0-9a-f]{2}){5})|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})"
    r"(?![\w:.-])"
)
_INTERNAL = re.compile(
    r"(?<![\w.@/-])(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,6}(?:internal|local|lan|corp|intranet|localdomain|home\.arpa)(?![\w(\[])",
    re.IGNORECASE,
)
_STORAGE = r"\b(?:s3a?|gs|gcs|abfss?|wasbs?|adl|hdfs|oss|cos)://[^\s\"'<>`]{1,1024}"
_AWS_NAME = r"\barn:aws[\w-]{0,20}:[\w-]{0,40}:[\w-]{0,40}:\d{0,12}:[^\s\"'<>`,]{1,512}"
_CLOUD_HOST = r"(?<![\w-])ip-(?:\d{1,3}-){3}\d{1,3}(?![\w-])"


def _ipv4(match: re.Match[str]) -> str:
    text = match[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    # Loopback and "any" are everybody's.
    if address.is_loopback or address.is_unspecified:
        return text
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    after = match.string[match.end() : match.end() + 8]
    called = _ADDRESS_BEFORE.search(before) or _ADDRESS_AFTER.match(after)
    version = _VERSION_BEFORE.search(before) or (_TRITON_RELEASE.fullmatch(text) and not called)
    return text if version and not _ADDRESS_AFTER.match(after) else "<IP address>"


def _ipv6(match: re.Match[str]) -> str:
    try:
        ipaddress.IPv6Address(match[0].partition("%")[0])
    except ValueError:
        return match[0]
    return "<IP address>"


def _email(match: re.Match[str]) -> str:
    # Behind names of one or two letters it is a matrix product with an attribute of its right side, such as a@b.T.
    code = len(match["local"]) <= 2 and len(match["host"].split(".")[0]) <= 2
    return match[0] if code else "<e-mail address>"


def _internal(match: re.Match[str]) -> str:
    # threading.local and llvm.internal are names of code; those of machines are numbered, or have hyphens.
    return "<host name>" if re.search(r"[\d-]", match[0]) else match[0]


NETWORK: tuple[ScrubRule, ...] = (
    ScrubRule("URL with credentials", _URL, lambda match: f"{match['scheme']}<removed>", ("://",)),
    removed("storage address", _STORAGE, "://"),
    removed("AWS resource", _AWS_NAME, "arn:aws"),
    ScrubRule("secret in a URL", _QUERY, lambda match: f"{match['before']}<secret>", ("=",)),
    ScrubRule("login", _PROMPT, lambda match: "<login>", ("@",)),
    ScrubRule("remote path", re.compile(_REMOTE), lambda match: "<remote path>", ("@",)),
    ScrubRule("e-mail address", _EMAIL, _email, ("@",)),
    ScrubRule("IP address", _IPV4, _ipv4, (".",)),
    ScrubRule("IP address", _IPV6, _ipv6, (":",)),
    removed("MAC address", _MAC, ":", "-", ".", flags=re.IGNORECASE),
    ScrubRule("host name", _INTERNAL, _internal, (".internal", ".local", ".lan", ".corp", ".intranet", ".home.arpa")),
    removed("host name", _CLOUD_HOST, "ip-"),
    removed("GPU id", r"\b(?:GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gpu-", "mig-"),
)
"""In the order in which they are tried."""
