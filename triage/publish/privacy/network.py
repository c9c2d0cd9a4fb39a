"""Identifiers of machines and people on a network: URLs with credentials, e-mail, IP and MAC addresses, host names.

A version number may look like an address (3.9.0.1), a C++ name like IPv6 (``a::b``), a matrix product like e-mail
(``a@b.T``): each rule states its exceptions."""

import ipaddress
import re

from triage.publish.privacy.rule import START, Rule, ScrubRule, removed, run_of

# A login ends at an @. A password may have any character but a space; a colon and digits are a port.
_URL = re.compile(
    r"://(?=[^\s\"'<>@]{1,800}@)"
    r"(?:[^\s/?#\"'<>@:]{0,256}:(?!\d{1,5}(?:[/?#]|@[\w-]{1,64}/))[^\s\"'<>@]{1,512}(?:@[^\s\"'<>@/]{1,128}){0,3}@"
    r"|[^\s/?#\"'<>@]{1,512}@)[^\s\"'<>`]{0,2048}"
)
_QUERY = re.compile(
    r"[?&;#](?:[\w.-]{0,40}(?:token|secret|password|passwd|passwort|passphrase|signature|credential|api[_-]?key|access[_-]?key|subscription-key|keyid)|sig|sign|key"
    r"|auth|code|session|sid|jwt|pwd|pass|otp|ticket|assertion|samlresponse|hmac|client_id)=(?P<value>[^\s&\"'<>`#]{4,2048})",
    re.IGNORECASE,
)
_EMAIL = re.compile(
    r"(?<![\w.+%-])(?P<local>[\w.+%-]{1,64})@(?P<host>(?:[^\W_][\w-]{0,62}\.){1,8}(?P<top>[^\W\d_]{2,24}))(?![\w(\[@-])(?!\.\w)"
)
_PROMPT = (
    r"(?<![\w.@%])(?!git@)[a-z_][\w.-]{0,31}@[\w-][\w.-]{0,62}"
    r"(?=:[~/][^\s]{0,255}[#$]|[ ][~/][^\s]{0,255}\]?[#$]|'s password|: Permission denied|: Connection)"
)
_REMOTE = r"(?<![\w.@-])[\w.-]{1,32}@[\w.-]{2,253}:(?!\d{1,9}\b)[\w./~-]{2,255}"
_SSH_LOGIN = re.compile(r"(?<![\w.@-])[\w.-]{1,64}@[\w-][\w.-]{0,252}(?![\w@(\[])")
_SSH_COMMAND = re.compile(
    rf"{START}(?:ssh|scp|sftp|rsync|sshfs|mosh|sshpass|ssh-copy-id|autossh|plink)\s[^\n]{{0,400}}$"
)
_LOCAL = r"[\w.+%-]"
"""Characters before an @."""

_IPV4 = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?![\w]|\.\d)")
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
    r"[23fF](?<![\w:.%$@].)[0-9a-fA-F]{3}:(?:[0-9a-fA-F]{0,4}:){1,6}[0-9a-fA-F]{0,4}(?:%\w{1,15})?(?![\w:])"
)
_MAC = (
    r"[0-9a-fA-F](?<![\w:.-].)[0-9a-fA-F](?:(?::[0-9a-fA-F]{2}){5}|(?:-[0-9a-fA-F]{2}){5}|[0-9a-fA-F]{2}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4})"
    r"(?![\w:.-])"
)
_INTERNAL = (
    r"(?<![\w.@/-])(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,6}"
    r"(?:internal|local|lan|corp|intranet|localdomain|home\.arpa)(?![\w(\[])"
)
_STORAGE = r"\b(?:s3a?|gs|gcs|abfss?|wasbs?|adl|hdfs|oss|cos)://[^\s\"'<>`]{1,1024}"
_AWS_NAME = r"\barn:aws[\w-]{0,20}:[\w-]{0,40}:[\w-]{0,40}:\d{0,12}:[^\s\"'<>`,]{1,512}"
_CLOUD_HOST = r"(?<![\w-])ip-(?:\d{1,3}-){3}\d{1,3}(?![\w-])"
_GPU = r"\b(?:GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _ipv4(match: re.Match[str]) -> str | None:
    text = match[0]
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    if before and (before[-1].isalnum() or before[-1] in "_."):
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    # Loopback and "any" are everybody's.
    if address.is_loopback or address.is_unspecified:
        return None
    after = match.string[match.end() : match.end() + 8]
    called = _ADDRESS_BEFORE.search(before) or _ADDRESS_AFTER.match(after)
    version = _VERSION_BEFORE.search(before) or (_TRITON_RELEASE.fullmatch(text) and not called)
    return None if version and not _ADDRESS_AFTER.match(after) else "<IP address>"


def _ipv6(match: re.Match[str]) -> str | None:
    try:
        ipaddress.IPv6Address(match[0].partition("%")[0])
    except ValueError:
        return None
    return "<IP address>"


def _email(match: re.Match[str]) -> str | None:
    # Behind names of one or two letters it is a matrix product with an attribute of its right side, such as a@b.T.
    code = len(match["local"]) <= 2 and len(match["host"].split(".")[0]) <= 2
    return None if code else "<e-mail address>"


def _internal(match: re.Match[str]) -> str | None:
    # threading.local and llvm.internal are names of code; those of machines are numbered, or have hyphens.
    return "<host name>" if re.search(r"[\d-]", match[0]) else None


def _ssh_login(match: re.Match[str]) -> str | None:
    line = match.string.rfind("\n", 0, match.start()) + 1
    return "<login>" if _SSH_COMMAND.search(match.string[max(line, match.start() - 420) : match.start()]) else None


def _secret(match: re.Match[str]) -> str:
    return f"{match[0][: match.start('value') - match.start()]}<secret>"


_TOPS = (".internal", ".local", ".lan", ".corp", ".intranet", ".localdomain", ".home.arpa")

NETWORK: tuple[Rule, ...] = (
    ScrubRule("URL with credentials", _URL, lambda match: "://<removed>", ("://",)),
    removed("storage address", _STORAGE, "://", lead="[A-Za-z0-9]"),
    removed("AWS resource", _AWS_NAME, "arn:aws"),
    ScrubRule("secret in a URL", _QUERY, _secret, ("?", "&", ";", "#")),
    ScrubRule("login", re.compile(_PROMPT), lambda match: "<login>", ("@",), re.compile(r"[\w.-]{0,31}[a-z_]")),
    removed("remote path", _REMOTE, "@", lead=r"[\w.-]"),
    ScrubRule("login", _SSH_LOGIN, _ssh_login, ("@",), run_of(_LOCAL)),
    ScrubRule("e-mail address", _EMAIL, _email, ("@",), run_of(_LOCAL)),
    ScrubRule("IP address", _IPV4, _ipv4, needs=(".",)),
    ScrubRule("IP address", _IPV6, _ipv6, needs=(":",)),
    removed("MAC address", _MAC, needs=":-."),
    ScrubRule("host name", re.compile(_INTERNAL, re.IGNORECASE), _internal, _TOPS, run_of(r"[A-Za-z0-9.-]")),
    removed("host name", _CLOUD_HOST, "ip-"),
    removed("GPU id", _GPU, "gpu-", "mig-"),
)
"""In the order of precedence."""
