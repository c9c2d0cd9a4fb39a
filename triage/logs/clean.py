"""From a line as it was captured to the line that a compiler wrote.

Logs reach us through terminals, CI runners, log collectors and pytest, each of which adds something of its own
to a line. Most additions are prefixes, listed in :data:`PREFIXES`; a new one is one more entry there. Indentation
is part of a line: of the space after a prefix only one blank is removed. Everything takes time in proportion to
the line.
"""

from functools import lru_cache

from triage.logs.patterns import regex
from triage.model.visible import CONTROL

#: Longer lines are cut: no failure needs more, and one line of dumped IR may have megabytes.
MAX_LINE = 16_384
#: Wrappings in wrappings: a container's, a collector's, a runner's, a worker's, a logger's.
_MAX_NESTING = 8

_CONTROL = regex(CONTROL)
_LEVEL = r"(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
# With either separator of folders, and a drive.
_SOURCE = r"(?:[A-Za-z]:)?[\w./\\@+~-]{1,120}:\d{1,6}"
# A field of a record in JSON.
_FIELD = r"\"[\w.@-]{1,40}\": ?(?:\"[^\"\n]{0,200}\"|[\w.-]{1,40})"

#: The program that adds the prefix, and the prefix.
PREFIXES: tuple[tuple[str, str], ...] = (
    ("`gh run view --log`: job, step", r"[^\t]{1,120}\t[^\t]{1,120}\t\ufeff?(?=\d{4}-\d\d-\d\dT)"),
    (
        "a time stamp: GitHub, GitLab (with its stream), Jenkins, Kubernetes, loggers",
        rf"\[?\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}(?:Z| ?[+-]\d\d:?\d\d| UTC)?"
        r"(?: (?:TP|DP|PP|EP|rank)\d{1,4}){0,4}\]?(?: \d\d[OE](?:\+| |$)| |$)",
    ),
    ("Kubernetes' container runtime, after the time: stream, whole or part", r"std(?:err|out) [FP](?: |$)"),
    (
        "a logger's level after the time, and a logger's name: torch, loguru",
        rf"[\w.]{{1,80}}: \[{_LEVEL}\] {{1,4}}|\[{_LEVEL}\] (?:[\w.]{{1,80}}: )?"
        rf"|\| {_LEVEL} {{1,8}}\| (?:[\w.<>:]{{1,120}}:\d{{1,6}} - )?",
    ),
    (
        "tqdm's bar, without a carriage return",
        r"(?:[^|\n]{0,80}: )?\s{0,4}\d{1,3}%\|[^|]{0,400}\| ?\d[^\[]{0,20}\[[^\]]{1,80}\]",
    ),
    ("ComfyUI's and other hosts' streams", rf"(?:\[(?i:{_LEVEL})\] )?\[[\w.-]{{1,60}}/STD(?:ERR|OUT)\]:? ?"),
    ("rich's frame", r"[│┃] {0,2}"),
    ("a heading", r"#{1,6} (?=\S)"),
    ("a time of day: Jenkins", rf"\[?{_CLOCK}\]?(?:  ?|$)"),
    ("Buildkite, without its escape", r"_bk;t=\d{6,16}\x07?"),
    (
        "GitHub's and Azure's commands",
        r"##\[(?:error|warning|debug|command|section|group)\]|::(?:error|warning)[^:]{0,400}::",
    ),
    ("BuildKit: a step of a Dockerfile, and the time", r"#\d{1,4} (?=[\d.]{5,6}(?: |$))\d{1,4}\.\d{1,3}(?: |$)"),
    ("docker-compose", r"[A-Za-z][\w.-]{0,62}[-_]\d{1,3} {0,40}\| ?|[a-z][\w.-]{0,62} {1,40}\| "),
    ("kubectl --prefix", r"\[pod/[\w./-]{1,250}\] ?"),
    ("syslog, journalctl", rf"[A-Z][a-z]{{2}} [ \d]\d {_CLOCK} [\w.-]{{1,64}} [\w./:@-]{{1,64}}?(?:\[\d{{1,8}}\])?: "),
    ("syslog's time alone", rf"[A-Z][a-z]{{2}} [ \d]\d {{1,2}}{_CLOCK} {{1,2}}"),
    ("journalctl -o short-iso, after the time", r"[\w.-]{1,64} [\w./@-]{1,64}\[\d{1,8}\]: "),
    ("dmesg", r"\[ {0,8}\d{1,9}\.\d{6}\] "),
    ("Ray, vLLM: a worker", r"\((?:[\w.:<>-]{1,64} )?(?:pid|ip)=[^)]{1,100}\)(?: |$)"),
    ("torchrun: a rank", r" ?\[(?:rank|default|local_rank)_?\d{1,5}\]:? ?"),
    ("mpirun", r"\[\d{1,5},\d{1,6}\]<std(?:err|out)>: ?"),
    ("pytest-xdist", r"\[gw\d{1,3}\] "),
    (
        "glog, torch; not those of fatal lines, which have the failure's file and line",
        rf"\[?[IWE](?:\d{{0,4}} ?{_CLOCK}|\d{{4}}-\d\d-\d\dT{_CLOCK}(?:Z|[+-]\d\d:\d\d)?(?:\.\d{{1,9}})?)"
        rf" {{1,4}}(?:\d{{1,18}} )?{_SOURCE}\] ?",
    ),
    ("torch: frame, artifact", r"\[\d{1,4}/\d{1,4}(?:_\d{1,4})?\] |\[__\w{1,40}\] "),
    ("vLLM's logger", rf"{_LEVEL} \d\d-\d\d {_CLOCK} \[?{_SOURCE}\](?: |$)"),
    ("Python's logging, by default", rf"{_LEVEL}:[\w.]{{1,80}}:"),
    ("Python's logging, after the time", rf"-? ?[\w.]{{1,80}} - {_LEVEL} - |-? ?{_LEVEL} - "),
    ("pytest's summary", r"(?:FAILED|ERROR)(?: \[\d[\d.]{0,12}s\])? [\w./-]{1,250}\.py(?:::[^ ]{1,400})? - "),
    (
        "pytest's progress",
        r"[\w./-]{1,250}\.py(?:::[^ ]{1,400} | [.FEsxX]{1,200})"
        r"(?=error: |loc\(|[\w./-]{1,400}:\d{1,7}:\d{1,7}: error: )",
    ),
    (
        "the tag of an issue, before a compiler's location",
        r"\[[^\]]{1,40}\]:? {1,2}(?=\S{1,400}:\d{1,7}:\d{1,7}: error: )",
    ),
    (
        "Ray's logger of C++, after the time; its handler of signals prints a stack a second time with it",
        r"[DIWEF] \d{1,9} \d{1,9}\] (?:\([\w-]{1,40}\) )?\w{1,60}\.cc:\d{1,6}: ",
    ),
    (
        "the beginning of lines that somebody made bold together",
        r"\*\*(?=(?:fatal )?error: |LLVM ERROR: |ptxas |Traceback \("
        r"|(?:[a-z_]\w{0,40}\.){0,8}[A-Z]\w{1,60}(?:Error|Exception): )"
        r"(?!.{0,4000}\*\*\s{0,8}$)",
    ),
    ("Ray's logger, after the time", rf"{_LEVEL} {_SOURCE} -- (?!Unhandled error)"),
    ("a quotation", r"(?:>>? ){1,8}|>$"),
    ("the numbers of lines, as viewers show them beside a traceback", r"\d{1,6}[:|]? (?=  File \"|Traceback \()"),
    ("a list's item that is code, or of a traceback", r"(?:[-*]|\d{1,3}\.) (?=`|Traceback \(most |  File \")"),
    (
        "docker's json-file, Python's, and records whose text comes after other fields",
        rf"\{{(?:{_FIELD}, ?){{0,12}}[\"'](?:log|message|msg|text|body|line)[\"']: ?[\"']",
    ),
)
# What is left of a record behind its text.
_RECORD_END = regex(rf"\"(?:, ?{_FIELD}){{0,12}}\}}$|'\}}$")
_SUMMARY = regex(r"(?:FAILED|ERROR)(?: \[\d[\d.]{0,12}s\])? [\w./-]{1,250}\.py(?:::|\b)")
_PREFIX = regex("|".join(f"(?:{pattern})" for _, pattern in PREFIXES))
_ENTITY = regex(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{2,4}|#x[0-9a-fA-F]{2,4});")
_TAG = regex(r"</?(?:pre|code|br|samp|span|td|tr|details|summary|p|div|li|b|strong|em)(?: [^<>]{0,200})?/?>")
_ERROR = regex(r"\b\w{0,60}(?:Error|Exception)\b|\berror: |\bAssertion\b|\bLLVM ERROR\b")
_CODE = regex(r"(`{1,3})([^`].{0,16000}?)\1$")
_BOLD = regex(r"\*\*(?P<text>[^*].{2,16000})\*\*\s{0,8}$")
# A fence with the first line of the code behind it, where its language stands.
_FENCED = regex(r"```(?=[^`\n]{0,200}[:(\"'])")
# The items of ComfyUI's report.
_EXCEPTION_TYPE = regex(r"- \*\*Exception Type:\*\* (?P<name>[\w.]{1,200})\s{0,8}$")
_EXCEPTION_TEXT = regex(r"- \*\*Exception Message:\*\* (?=\S)")
# A report that was pasted with an indentation keeps it.
_PYTEST_FAILURE = regex(r" {0,8}E {3,64}(?=\S)")

# A traceback inside of something, as in a list or a block of indented code: its first line, or a frame.
_INDENTED = regex(
    r"(?: {1,16}|\t)(?=Traceback \(most recent call last\)|Fatal Python error: |  File \"[^\"]{1,400}\", line \d)"
)


def strip_control(line: str) -> str:
    """Remove terminal control sequences."""
    return _CONTROL.sub("", line) if "\x1b" in line else line


def strip_prefixes(line: str) -> str:
    """Remove the prefixes that collectors and loggers add to a line."""
    start = 0
    for _ in range(_MAX_NESTING):
        match = _PREFIX.match(line, start)
        if match is None or match.end() == start:
            break
        start = match.end()
    return line[start:]


@lru_cache(maxsize=256)
def _character(entity: str) -> str:
    # Its table takes longer to import than a short log to clean; few logs have entities.
    import html

    return html.unescape(entity)


def strip_html(line: str) -> str:
    """Replace entities by their characters and drop the tags of layout."""
    if "&" in line:
        line = _ENTITY.sub(lambda match: _character(match.group()), line)
    return _TAG.sub("", line) if "</" in line or "<pre" in line or "<code" in line or "<br" in line else line


def _weight(cell: str) -> tuple[bool, int]:
    """How likely a table's cell is the failing text: an error before all others, and of several the longest."""
    return _ERROR.search(cell) is not None, len(cell)


def strip_markdown(line: str) -> str:
    """Take the cell with an error, or the longest, of a table's row, and bold type and code out of their marks."""
    if bold := _BOLD.match(line):
        line = bold["text"]
    if line.startswith("| ") and line.rstrip().endswith(" |"):
        line = max(line.strip().strip("|").split(" | "), key=_weight).strip()
    # An even number of ticks inside are the ends of several pieces of code; a single one is an assertion's.
    if (
        line.startswith("`")
        and (match := _CODE.match(line.rstrip()))
        and (match[2].count("`") % 2 or "`" not in match[2])
    ):
        return match.group(2)
    return line[len("```") :] if _FENCED.match(line) else line


class Cleaner:
    """Removes the wrappings of one line after another; only pytest's, an indentation and a report's list depend on the
    lines before."""

    def __init__(self) -> None:
        self._width = 0
        self._indentation = ""
        # The exception that a report named in the line above its text.
        self._exception = ""
        #: True when the last line belonged to pytest's report of a failure.
        self.stripped_marker = False
        #: True when the last line was one of pytest's summary: it is of another test than the line above.
        self.is_summary = False

    def forget(self) -> None:
        """The next line does not follow the last one."""
        self._width = 0
        self.stripped_marker = False

    def __call__(self, raw: bytes) -> str:
        """The line without wrappings."""
        line = raw.decode("utf-8", "replace")[:MAX_LINE].rstrip("\r")
        # A bare carriage return redraws a line (progress bars): the last version counts.
        line = strip_html(strip_control(line.rpartition("\r")[2]))
        self.is_summary = ".py" in line and _SUMMARY.match(line) is not None
        is_json, width = line.startswith("{"), len(line)
        line = strip_prefixes(line)
        line = _RECORD_END.sub("", line) if is_json and len(line) < width else line
        line = self._without_marker(line)
        if self.stripped_marker:
            line = strip_prefixes(line)
        line = self._of_report(self._outdented(line))
        line = line.rstrip("│┃ ") if line.endswith(("│", "┃")) else line
        return strip_markdown(line) if line[:1] in ("|", "`", "*") else line

    def _without_marker(self, line: str) -> str:
        """Remove pytest's ``E   `` with the indentation of the block's first line; more indentation is the text's."""
        match = _PYTEST_FAILURE.match(line) if "E   " in line else None
        self.stripped_marker = match is not None or line.rstrip() == "E"
        if not self.stripped_marker:
            self._width = 0
            return line
        if match is None:
            return ""
        self._width = min(self._width or match.end(), match.end())
        return line[self._width :]

    def _of_report(self, line: str) -> str:
        """Join the items of ComfyUI's report in which an exception and its text stand."""
        if not line.startswith("- **"):
            return line
        if named := _EXCEPTION_TYPE.match(line):
            self._exception = named["name"]
            return ""
        if (text := _EXCEPTION_TEXT.match(line)) and self._exception:
            return f"{self._exception}: {line[text.end() :]}"
        return line

    def _outdented(self, line: str) -> str:
        """Remove the indentation of a whole traceback, up to the line that ends it."""
        if indented := _INDENTED.match(line):
            self._indentation = indented.group()
        if self._indentation and line.strip() and not line.startswith(self._indentation):
            self._indentation = ""
        return line.removeprefix(self._indentation)
