"""Credentials recognised by their own form: vendor prefixes, PEM blocks, JSON web tokens.

A table of our own: existing libraries report the line of a secret, not its extent, and know neither names nor paths
(detect-secrets 1.5.0 finds ten of the fifty kinds of private text in the tests). Forms follow the vendors'
documentation, slightly shorter than documented, so that a truncated one matches as well."""

from __future__ import annotations

import math
import re
from collections import Counter

from triage.publish.privacy.rule import ScrubRule, removed

_ALNUM, _WORD, _DOTTED = "A-Za-z0-9", r"\w-", r"\w=.-"

_PREFIXED: tuple[tuple[str, str, str, int], ...] = (
    # docs.github.com, "About authentication to GitHub": token formats
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w", 16),
    # docs.gitlab.com, "Token overview": prefixes
    ("GitLab token", "glpat- glptt- gldt- glrt- glcbt- glft- glsoat- glagent- glimt- gloas- GR1348941", _DOTTED, 16),
    # docs.aws.amazon.com, IAM identifiers: unique ID prefixes
    ("AWS key id", "AKIA ASIA ABIA ACCA AROA AIDA AGPA ANPA", "A-Z0-9", 16),
    # cloud.google.com: API keys, OAuth access and refresh tokens, client secrets
    ("Google token", "AIza ya29. GOCSPX- 1//0", _WORD, 16),
    ("Hugging Face token", "hf_ api_org_", _ALNUM, 20),
    # OpenAI, Anthropic and OpenRouter; Stripe with an underscore
    (
        "API key",
        "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- sk_live_ sk_test_ rk_live_ rk_test_ pk_live_",
        _WORD,
        12,
    ),
    ("API key", "sk-", _ALNUM, 20),
    (
        "API key",
        "gsk_ xai- r8_ nvapi- tskey- glsa_ glc_ dop_v1_ dckr_pat_ shpat_ lin_api_ nfp_ pplx- ATATT3",
        _DOTTED,
        20,
    ),
    ("API key", "hvs. hvb. whsec_ sntrys_ NRAK- dapi SG.", _DOTTED, 20),
    # api.slack.com, "Token types"
    ("Slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb- xapp-", _WORD, 10),
    ("npm token", "npm_", _ALNUM, 20),
    # A macaroon of PyPI's (its help page on API tokens)
    ("PyPI token", "pypi-", _WORD, 32),
    ("age key", "AGE-SECRET-KEY-1", "0-9A-Z", 20),
)
"""Kind, prefixes, characters of the rest, and its minimum length."""

_START = r"(?<![A-Za-z0-9])"
"""A token starts where no word continues, though an underscore may join it to a name (``backup_ghp_…``)."""
_MOST = 2048
"""Maximum length of a token in characters; none is as long."""


def _prefixed(name: str, prefixes: str, rest: str, least: int) -> ScrubRule:
    words = prefixes.split()
    alternatives = "|".join(map(re.escape, words))
    return removed(name, rf"{_START}(?:{alternatives})[{rest}]{{{least},{_MOST}}}", *(word.lower() for word in words))


_WEBHOOK = (
    r"https://(?:hooks\.slack\.com/(?:services|workflows|triggers)|(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks"
    r"|[\w-]{1,63}\.webhook\.office\.com)/[\w/@.-]{8,255}"
)
# The checksum "Q~" of Azure's client secrets, and the marks of its newer keys (learn.microsoft.com)
_AZURE = rf"{_START}(?:[\w~.]{{3}}[78]Q~[\w~.-]{{30,40}}|[A-Za-z0-9]{{40,80}}(?:JQQJ99|AzCa)[A-Za-z0-9+/=]{{0,40}})"
_WITH_HYPHENS = rf"{_START}sk-(?=[\w-]{{0,64}}\d)[\w-]{{16,{_MOST}}}"
_TELEGRAM = rf"{_START}\d{{8,10}}:AA[\w-]{{32,34}}(?![A-Za-z0-9])"
_SSH = (
    rf"{_START}(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d{{3}}|sk-[\w@.-]{{4,40}}) AAAA[A-Za-z0-9+/=]{{16,4096}}"
    r"(?: [^\s\"'<>]{1,255})?"
)

_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# Up to its end; where a text ends before that, the lines of it that there are.
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:(?:[^-]|-(?!----)){{0,20000}}{_END}|(?:[\s#;/*>|\"'\\nr]{{0,16}}[A-Za-z0-9+/=]{{16,80}}(?=[\s\"'\\]|$)){{0,400}})"
)
# Where a text begins in the middle of a key: whole lines of it, each perhaps behind a comment's mark, up to its end.
_PEM_TAIL = rf"(?:^[#;/* \t]{{0,16}}[A-Za-z0-9+/=]{{16,80}}[ \t\r]{{0,4}}\n){{1,400}}[#;/* \t]{{0,16}}{_END}"

_AWS_SECRET = r"(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_.-])"
_LEAST_ENTROPY = 4.4
"""Bits a character. Forty random base64 characters have 4.7 ± 0.1; paths and names of that length less than 4.3."""


def _aws_secret(match: re.Match[str]) -> str:
    text = match[0]
    mixed = re.search("[a-z]", text) and re.search("[A-Z]", text) and re.search("[0-9]", text)
    entropy = -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())
    looks = mixed and re.search("[+/]", text) and entropy >= _LEAST_ENTROPY
    return "<AWS secret key>" if looks else text


TOKENS: tuple[ScrubRule, ...] = (
    removed("private key", _PEM, "private key"),
    removed("private key", _PEM_TAIL, "private key", flags=re.MULTILINE),
    removed("web token", _START + r"eyJ[\w-]{8,4096}\.(?:eyJ)?[\w-]{4,16384}(?:\.[\w-]{0,4096}){0,3}", "eyj"),
    *(_prefixed(*row) for row in _PREFIXED),
    removed("webhook", _WEBHOOK, "hooks.slack.com", "webhooks/", "webhook.office"),
    removed("Azure secret", _AZURE, "q~", "jqqj99", "azca"),
    removed("API key", _TELEGRAM, ":aa"),
    removed("API key", _WITH_HYPHENS, "sk-"),
    removed("SSH key", _SSH, " aaaa"),
    ScrubRule("AWS secret key", re.compile(_AWS_SECRET), _aws_secret, ("/", "+")),
)
"""In the order of application."""
