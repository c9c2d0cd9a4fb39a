"""Credentials recognised by what precedes them: headers, ``KEY=value``, fields, prompts, options of commands.

IR and kernels also contain tokens and keys (``%token``, ``num_tokens=128``, ``key = tl.load(…)``, a cache key). So
names that only ever mean a credential match almost any value, and the others only a value that looks generated."""

import re
import string

from triage.publish.privacy.commands import COMMANDS
from triage.publish.privacy.generated import is_mixed
from triage.publish.privacy.rule import SECRET, Rule, any_case, hidden

_ALONE = (
    r"passw(?:or)?d|passwd|pass[ _-]?phrase|passcode|(?:pwd|psk)(?=[=:\\\"'])|secret|credentials?|cookie|webhook"
    r"|account[_-]?name|session[_-]?id|otp|totp|mfa|pincode|connection[ _-]?string|connstr"
)
"""Words that only ever mean a credential."""
_QUALIFIED = "keys?|tokens?|secrets?|pass"
_QUALIFIER = (
    r"api|access|private|account|signing|encryption|master|license|licence|subscription|service|storage|deploy|app"
    r"|application|ingest|ingestion|webhook|shared|auth|install|installation|org|bot|admin|session|client|refresh|id"
    r"|bearer|sas|personal|job|runner|web|csrf|xsrf|become|bind|user|login|db|smtp|mail|email|ftp|mysql|pg|postgres"
    r"|redis|proxy|ssh|sudo|root|jdbc|ldap|vpn|wifi"
)
"""Words that make a key, token or pass a credential."""
_QUALIFIERS = frozenset(_QUALIFIER.split("|"))
_WEAK = r"token|key|auth|pat|pin|cert|dsn|conn(?:ection)?[_-]?str(?:ing)?|creds?|jwt|hmac|pass|pw"
_ANCHORS = (
    "passw", "passphrase", "passcode", "pass", "pwd", "pw", "psk", "secret", "credential", "cred", "cookie", "webhook",
    "account", "session", "otp", "mfa", "pincode", "connection", "connstr", "conn", "token", "key", "auth", "pat",
    "pin", "cert", "dsn", "jwt", "hmac",
)  # fmt: skip
_SUFFIX = r"(?P<suffix>s|[_-][\w-]{0,32}|\d{1,2}|(?-i:[A-Z])\w{0,32})?"
_BARE = r"[^\s\"'`<>,;()\[\]{}&|=:]"
_VALUE = (
    r"(?:[bfru]{1,2}(?=[\"']))?(?P<quote>\"\"\"|'''|[\"'`])"
    r"(?P<quoted>(?:(?!(?P=quote))(?:[^\n\\]|\\.)){1,2048})"
    rf"|(?!\\)(?P<bare>{_BARE}{{1,2048}}(?:[=:]{{1,3}}{_BARE}{{0,512}}){{0,6}})(?P<after>(?:[(\[]|<(?!/|br\b))?)"
)
# Between a name and its value; either may be marked up, or be a cell of a table.
_IS = (
    r"(?P<is>(?:[\"']|[*`]{1,3}|</\w{1,8}>)?[ \t]{0,8}\]?[ \t]{0,8}"
    r"(?::[ \t]{0,4}(?:&(?:'static )?str|[Ss]tring|Final(?:\[str\])?|str|bytes"
    r"|(?:typing\.)?Optional\[str\]|str[ ]?\|[ ]?None|SecretStr)[ \t]{0,8}=(?!=)"
    r"|:=|=>|->|<-|[=:]|(?<=[\"']),(?=[ \t]{0,8}[\"'])|\{(?=[\"'])"
    r"|(?<=</t[dh]>|</dt>)\s{0,40}<[td]d[^<>\n]{0,80}>)"
    r"(?:\*{1,3}|</\w{1,8}>)?[ \t]{0,24}(?:[|>][+-]?[ \t]{0,8}\n[ \t]{1,40})?)"
)
# The first text of a list or call; what was removed there before is passed over.
_WITHIN = (
    r"(?P<within>(?:[A-Za-z_][\w.]{0,40})?[\[({][ \t]{0,4}(?:[\"']<secret>[\"'],[ \t]{0,4}){0,16}"
    r"(?=[bfru]{0,2}[\"']))?"
)
_ASSIGNED = rf"(?P<word>{_ALONE}|{_QUALIFIED}|{_WEAK}){_SUFFIX}{_IS}{_WITHIN}(?:{_VALUE})"
_WORD_START = "(?-i:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"
_LAST_WORD = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)(?=[ _-]?$)")
_NEAR_NAME = 16
"""Characters before a key or token in which its qualifier is."""
_IS_ALONE = re.compile(_ALONE, re.IGNORECASE)

_CODE = re.compile(r"[A-Za-z_][\w.]*|[-+*/%]?\d[\d_.eEx]*|True|False|None|null|true|false|%[\w.#:]+|[#!@]\w.*")
"""Values in kernels and IR: names, numbers, MLIR values and aliases."""
_TYPE = re.compile(
    r"str|bytes|int|float|bool|Any|None|object|string|String|boolean|number|integer|null|undefined|dict|list|tuple"
    r"|Optional|Union|List|Dict|Secret\w*|tensor|constexpr|(?:the|an?|is|was|not|must|may|for|to|of|or|and|if|in|on|with"
    r"|required|optional|incorrect|invalid|wrong|missing|empty|unset|none|set|yes|no|hidden|redacted|removed|unchanged"
    r"|default|prompt|your|this|that)",
    re.IGNORECASE,
)
"""What follows a name and a colon in annotations and prose."""
_TEMPLATE = re.compile(
    r"\$?\{[\w.\[\]'\":!-]*\}|\$\w+|\$\([^)]*\)|%\(?\w*\)?s|[*.xX\u2026]{3,}|\[?(?:redacted|removed|masked|hidden)\]?",
    re.IGNORECASE,
)
_FIELD = re.compile(r"\{\w{1,40}\}")
"""Of a format string, whose value is put together elsewhere."""
_PUBLIC_KEYS = frozenset(
    {
        "cache", "hash", "kernel", "tune", "tuning", "config", "sort", "group", "content", "specialization",
        "signature", "compile", "lookup", "dispatch", "public", "fn", "func", "src", "source", "object", "dict",
        "map", "index", "primary", "foreign", "partition", "device", "stream", "registry", "build", "launch",
        "digest", "git", "commit", "artifact",
    }
)  # fmt: skip
"""Words that make a key one of data: its value may be a digest that a reader needs."""


def _value(match: re.Match[str]) -> str:
    return match["quoted"] if match["quoted"] is not None else match["bare"]


def _edited(match: re.Match[str]) -> str:
    """The match without its value."""
    group = "quoted" if match["quoted"] is not None else "bare"
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return match[0][:start] + SECRET + match[0][end:]


def _assigned(match: re.Match[str]) -> str | None:
    value = _value(match)
    if (
        value.startswith("<")
        or match["after"]
        or (match["suffix"] or "").endswith(("Error", "Exception", "Warning"))
        or (_FIELD.search(value) and not _mixed(_FIELD.sub("", value)))
        or _TEMPLATE.fullmatch(value)
        or (match["quoted"] is None and _plain(value) and not _is_pin(match["word"], value))
    ):
        return None
    before = match.string[max(0, match.start() - 64) : match.start()]
    qualifier = _LAST_WORD.search(before[-_NEAR_NAME:])
    strong = _IS_ALONE.match(match.string, match.start()) or (qualifier and qualifier[0].lower() in _QUALIFIERS)
    if strong:
        return _edited(match) if _is_strong(match, value) else None
    return _edited(match) if not match["within"] and _is_weak(match, value, before) else None


def _is_pin(name: str, value: str) -> bool:
    """Whether a number is a password: under other names it is a size."""
    return value.isdigit() and len(value) >= 4 and _PASSWORD.search(name) is not None


_PASSWORD = re.compile(r"passw|pass[ _-]?phrase|passcode|pincode|otp|mfa", re.IGNORECASE)


def _is_strong(match: re.Match[str], value: str) -> bool:
    if len(value) < 4:
        return False
    if match["quoted"] is not None:
        return True
    if _PASSWORD.match(match["word"]):
        return "=" in match["is"] or not _TYPE.fullmatch(value)
    # After a colon or between spaces there may be a type or a name.
    code = _CODE.fullmatch(value) and not _mixed(value) and not is_mixed(value)
    return not code or ("=" in match["is"] and (" " not in match["is"] or match["word"].lower() == "secret"))


def _is_weak(match: re.Match[str], value: str, before: str) -> bool:
    if match["word"].lower() in ("pass", "pw"):
        # Passes of a compiler have names; a password mixes all kinds.
        if _STRONG_NAME.search(f"{before[-2:]}{match['word']}"):
            return True
        return len(value) >= 8 and all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"^[^\s/.()]+$"))
    name = before[len(before.rstrip(_NAME_CHARACTERS)) :] + match["word"] + (match["suffix"] or "")
    named = name.isupper() or match["quoted"] is not None
    is_long = len(value) >= (12 if named else 16)
    of = _LAST_WORD.search(before[-_NEAR_NAME:])
    public = of is not None and of[0].lower() in _PUBLIC_KEYS
    return is_long and not public and _mixed(value) and not re.search(r"[\s(){}]", value)


_NAME_CHARACTERS = f"{string.ascii_letters}{string.digits}_-"


def _plain(value: str) -> bool:
    """Whether a value is never a secret: a number, a type, a call on a module, a placeholder."""
    return (
        value.startswith(("<", "tl.", "gl.", "ttgl.", "triton.", "torch.", "%", "!", "#", "*"))
        or re.fullmatch(
            r"[-+]?[\d_.]{1,64}|True|False|None|null|none|true|false|[iu]\d{1,3}|b?fp?\d{1,3}|\*{3,64}", value
        )
        is not None
    )


def _mixed(value: str) -> bool:
    """Whether it mixes letters and digits like a generated value; a word with trailing digits (``float32``) does not
    count."""
    return bool(
        re.search(r"[A-Za-z]", value)
        and re.search(r"\d\D|\d\d\d", value)
        and not re.fullmatch(r"[A-Za-z_.]+\d{1,3}", value)
    )


# ---- headers

_SCHEMES = "bearer|basic|token|apikey|negotiate|ntlm|aws4-hmac-sha256|key|jwt|splunk|genie|snowflake token|api-key"
_HEADER_VALUE = (
    rf"[\"']?[ \t]{{0,4}}[:=,][ \t]{{0,4}}[\"']?(?:(?:{_SCHEMES})[ \t]{{1,4}})?"
    r"(?![\"' \t]|[\w-]{1,20}[ \t]{1,4}<)(?P<value>[^\"'\n\r<\\]{4,4096})"
)
# These have parameters, of which some are quoted.
_DIGEST = (
    r"(?:proxy-)?authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:digest|oauth|hawk|signature|mac)[ \t]{1,4}"
    r"(?P<value>(?:[\w-]{1,32}[ ]?=[ ]?(?:\"[^\"\n]{0,1024}\"|[^\s,\"'<]{1,1024})[, \t]{0,8}){1,32})"
)
_AUTHORIZATION = "(?:proxy-)?authorization" + _HEADER_VALUE
_X_HEADERS = (
    r"(?:x-[\w-]{0,40}(?:key|token|auth|signature|secret|password|credential|session)[\w-]{0,16}|(?:private|job|deploy)-token|ocp-apim-subscription-key)"
    + _HEADER_VALUE
)
_COOKIE = (
    r"(?<!\w)(?:set-)?cookie2?[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    r"(?P<value>[^\"'\n\r<\\=\s]{1,128}=[^\"'\n\r<\\ ][^\"'\n\r<\\]{2,4096})"
)
_BEARER = (
    r"(?<!\w)(?:bearer[ \t]{1,4}(?=[^\s\"'<>]{0,255}[\d+/=._-])|basic[ \t]{1,4}(?=[^\s\"'<>]{0,255}[\d+/=]))"
    r"(?P<value>[A-Za-z0-9+/=._~-]{12,4096})"
)


# ---- files and prose

_NETRC = r"(?<![\w-])(?P<field>login|password|account)[ \t\n]{1,80}(?P<value>[^\s\"'<>]{1,255})(?=[\s\"'<]|$)"


_NETRC_ENTRY = re.compile(r"(?:machine[ \t]+\S+|default)\s+(?:(?:login|account)\s+\S+\s+password|password|login)\s")


def _in_netrc(match: re.Match[str]) -> str | None:
    near = match.string[max(0, match.start() - 300) : match.end() + 20]
    entry = _NETRC_ENTRY.search(near)
    return hidden(match) if entry and (entry[0].startswith("machine") or "password" in entry[0]) else None


_PGPASS = r":(?:5432|\d{4,5}|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?P<value>[^\s:\"'<>]{4,256})(?=[\s\"'<]|$)"
_PROMPT = (
    r"(?:password|pass[ ]?phrase|passcode|passwort|contrase\u00f1a)s?"
    r"(?:[ \t]{1,2}(?:for|of|to)[ \t]{1,2}[^\n]{1,120}?:[ \t]{1,4}"
    r"|[ \t]{0,2}[:=][ \t]{0,4}|[ \t]{1,2}(?:is|was|are)[ \t:]{1,4})[\"'`]?(?P<value>[^\s\"'`<>]{4,256})"
)


# Several words up to the end of the line.
_PASSPHRASE = (
    r"(?:password|pass[ _-]?phrase)[ \t]{0,4}[:=][ \t]{0,4}"
    r"(?P<value>[^\s\"'`<>,;(){}\[\]]{3,64}(?: [^\s\"'`<>,;(){}\[\]]{2,64}){1,9})(?=[\s,;.)]{0,40}(?:[\n\"'`<]|$))"
)


def _prompted(match: re.Match[str]) -> str | None:
    value = match["value"].rstrip(".,;:)")
    private = not (_TYPE.fullmatch(value) or _plain(value) or _TEMPLATE.fullmatch(value) or value.endswith(("(", "[")))
    return hidden(match) if private and not re.search(r"[(\[{]", value) else None


def _phrase(match: re.Match[str]) -> str | None:
    return None if _TYPE.fullmatch(match["value"].split(" ")[0]) else hidden(match)


# The phrase, a few words, and something that was generated.
_NEAR = (
    r"(?:(?:api|access|secret|auth|private|personal|bearer|licen[cs]e|service|account|signing|application|app)[ _-]"
    r"(?:access[ _-])?(?:key|token|secret|credential)s?|apikeys?"
    r"|wandb|weights & biases|sonar|datadog|heroku|kaggle|cohere|mistral|vercel|netlify|snyk|okta|algolia|twilio"
    r"|new ?relic|comet|neptune|clearml|runpod|dockerhub"
    r"|(?<![\w.])(?:token|secret|password|credential)s?)"
    r"(?P<between>[^\n]{0,60}?)(?<![\w./%#@+-])"
    r"(?P<value>[0-9a-f]{32,64}|(?=[A-Za-z0-9]{0,64}\d)(?=[A-Za-z0-9]{0,64}[A-Za-z])[A-Za-z0-9]{24,64})(?![\w/+-]|\.\w)"
)
_NEAR_ANCHORS = (
    "api", "access", "secret", "auth", "private", "personal", "bearer", "licen", "service", "account", "signing", "app",
    "token", "password", "credential", "wandb", "weights &", "sonar", "datadog", "heroku", "kaggle", "cohere",
    "mistral", "vercel", "netlify", "snyk", "okta", "algolia", "twilio", "newrelic", "new relic", "comet", "neptune",
    "clearml", "runpod", "dockerhub",
)  # fmt: skip
_NO_SECRET = re.compile(
    r"commit|hash|sha|digest|cache|kernel|revision|\brev\b|git|checksum|uuid|version", re.IGNORECASE
)


def _near(match: re.Match[str]) -> str | None:
    if _NO_SECRET.search(match["between"]):
        return None
    # A hexadecimal digest behind these words is none; other letters and digits must be more than a name.
    is_hex = re.fullmatch("[0-9a-f]+", match["value"])
    return hidden(match) if is_hex or not re.fullmatch(r"[A-Z0-9]*|[A-Za-z]+\d{1,4}", match["value"]) else None


_NAMED = (
    r"(?:name|key|id|field|property|variable)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<named>[\w.-]{2,64})"
    r"[\s,/\"']{1,80}value[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<value>[^\s\"'<>]{4,2048})"
)
_ELEMENT = r"<(?P<named>[\w.:-]{2,64})(?:[ \t][^<>\n]{0,200})?>(?P<value>[^<>\n]{4,2048})</"
_SET = (
    r"(?<![\w-])(?:setenv|setx|set[ \t]{1,4}-\w{1,3}|define|--build-arg|env|arg|putenv"
    r"|(?:configure|config|secrets?|variables?|env)[ \t]{1,4}(?:set|add|create))"
    r"[ \t(\"']{1,4}"
    r"(?P<named>[\w.-]{2,64})[ \t=,\"']{1,6}(?P<value>[^\s\"'<>)]{4,1024})"
)


def _named(match: re.Match[str]) -> str | None:
    return hidden(match) if is_secret(match["named"], match["value"]) else None


_LOGIN_PAIR = (
    r"(?:basic_?auth|auth|login|connect|credentials|DigestAuth|HTTPBasicAuth)[ \t]{0,4}=?[ \t]{0,4}\([ \t]{0,4}"
    r"(?P<quote>[\"'])[^\"'\n]{1,128}(?P=quote)[ \t]{0,4},[ \t]{0,4}"
    r"(?P<second>[\"'])(?P<value>(?:(?!(?P=second))[^\n]){3,512})(?P=second)"
)
ASSIGNED: tuple[Rule, ...] = (
    any_case("header", _DIGEST, hidden, "authorization", "proxy-authorization"),
    any_case("header", _AUTHORIZATION, hidden, "authorization", "proxy-authorization"),
    any_case("header", _X_HEADERS, hidden, "x-", "private-token", "job-token", "deploy-token", "ocp-apim"),
    any_case("header", _COOKIE, hidden, "cookie", "set-cookie"),
    any_case("header", _BEARER, hidden, "bearer", "basic"),
    *COMMANDS,
    any_case("secret value", _NETRC, _in_netrc, "login", "password", "account"),
    any_case("secret value", _PGPASS, hidden, ":5432:", ":5433:", ":*:"),
    any_case("secret value", _ELEMENT, _named, "<"),
    any_case("secret value", _NAMED, _named, "name", "key", "id", "field", "property", "variable"),
    any_case(
        "secret value",
        _SET,
        _named,
        "set",
        "define",
        "--build-arg",
        "env",
        "arg ",
        "putenv",
        "config",
        "secret",
        "variable",
    ),
    any_case("secret value", _LOGIN_PAIR, hidden, "basic", "auth", "login", "connect", "credentials", "digest", "http"),
    any_case("secret value", _PASSPHRASE, _phrase, "pass"),
    any_case("secret value", _ASSIGNED, _assigned, *_ANCHORS),
    any_case("secret value", _PROMPT, _prompted, "pass", "contrase"),
    any_case("secret value", _NEAR, _near, *_NEAR_ANCHORS),
)
"""In the order of precedence."""

_STRONG_NAME = re.compile(
    rf"{_ALONE}|{_WORD_START}(?:{_QUALIFIER})[_-]?(?:{_QUALIFIED})|(?-i:[A-Z0-9]_(?:PASS|PWD|PW)$)", re.IGNORECASE
)
SECRET_NAME = re.compile(rf"{_STRONG_NAME.pattern}|(?:^|[_-])(?:{_WEAK})(?:$|[_-])", re.IGNORECASE)
"""Names of variables and fields that hold a secret."""


def is_secret(name: str, value: str) -> bool:
    """Whether a field with that name and value holds a credential."""
    if _is_pin(name, value):
        return True
    if _plain(value) or not SECRET_NAME.search(name):
        return False
    return len(value) >= 4 if _STRONG_NAME.search(name) else len(value) >= 12 and _mixed(value)
