"""An assertion that failed on the device: ``tl.device_assert``, or one in CUDA C++, which is another program's.

``k.py:12: kernel: block: [0,0,0], thread: [32,0,0] Assertion `index out of range` failed.``
``/aten/src/ATen/native/cuda/Indexing.cu:1231: f: block: [31,0,0], thread: [116,0,0] Assertion `i < n` failed.``
"""

from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind, SourceLocation

_FAILED = regex(
    r"(?P<file>[^\s:]{1,400}):(?P<line>\d{1,7}): (?P<function>.{1,400}): "
    r"block: \[[\d,]{5,40}\], thread: \[[\d,]{5,40}\] Assertion `(?P<stated>.{0,2000}?)(?:` failed|$)"
)

# Of a kernel without a location, as in those that Inductor writes; C++ always has a file.
_UNKNOWN = "unknown"


def _read(window: Window) -> Finding | None:
    failed = _FAILED.search(window.line)
    if failed is None:
        return None
    is_unknown = failed["file"] == _UNKNOWN
    if not failed["file"].endswith(".py") and not is_unknown:
        return finding(window, Kind.OTHER, window.line.strip(), specificity=Specificity.TAIL)
    locations = () if is_unknown else (SourceLocation(failed["file"], int(failed["line"])),)
    headline = f"device-side assert triggered: {failed['stated']}"
    return finding(window, Kind.LAUNCH_ERROR, headline, locations=locations, stage="launch")


RECOGNISER = Recogniser(
    anchors=(", thread: [",),
    read=_read,
    examples={
        "k.py:12: kernel: block: [0,0,0], thread: [32,0,0] Assertion `index out of range` failed.": Kind.LAUNCH_ERROR,
        "unknown:0: unknown: block: [0,0,0], thread: [1,0,0] Assertion `index out of bounds: 0 <= tmp4 < 9` failed.": (
            Kind.LAUNCH_ERROR
        ),
        "/a/Indexing.cu:31: f: block: [31,0,0], thread: [116,0,0] Assertion `i < n` failed.": Kind.OTHER,
    },
    owns=True,
)
