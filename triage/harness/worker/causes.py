"""Why an error says nothing of the code that it ended: a stand-in, or a package that the code goes on without."""

import re
from typing import Optional

from . import errors, imports, placeholders

_MARK = re.compile(r"<stand-in for ([^>]+)>")
_WITHOUT = ("'NoneType' object", " is not defined")
"""In the errors of a module that goes on without a package that it uses after all."""
_GLOBAL = re.compile(r"access global variable (\w+)")
_CATCHES = "catching classes that do not inherit from BaseException"
_MOST_TEXT = 200


def of(error: BaseException) -> Optional[str]:
    """The reason in words; None for every other error."""
    if placeholders.refusals:
        return placeholders.refusals[0]
    for link in errors.chain(error, suppressed=True):
        text = errors.message(link)
        if isinstance(link, placeholders.Undecidable):
            return text
        path = _front_end_sees(link) or next(iter(_MARK.findall(text)), "")
        if path:
            return "%s needs `%s`, and %s" % (_line(link), path, placeholders.reason(path))
        about = "%s: %s" % (_line(link), " ".join(text.split())[:_MOST_TEXT])
        if placeholders.StandIn.__name__ in text or (placeholders.reasons and _CATCHES in text):
            return "%s; there are stand-ins for %s" % (about, " and ".join(sorted(placeholders.reasons)))
        if imports.avoided and any(words in text for words in _WITHOUT):
            return "%s; %s is not installed there" % (about, " and ".join(sorted(imports.avoided)))
    return None


def _front_end_sees(error: BaseException) -> str:
    """The stand-in that Triton's front end was looking at when it raised the error."""
    trace = errors.traceback_of(error)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and placeholders.is_tritons(trace.tb_frame.f_code.co_filename):
        for value in list(trace.tb_frame.f_locals.values()):
            if type(value) is placeholders.StandIn:
                return placeholders.path_of(value)
    # Up to 3.1 that frame is gone when the error is raised; which global it was is in the text.
    name, kernel = _GLOBAL.search(errors.message(error)), errors.owner_of(error)
    value = kernel.fn.__globals__.get(name.group(1)) if name and kernel is not None else None
    return placeholders.path_of(value) if type(value) is placeholders.StandIn else ""


def _line(error: BaseException) -> str:
    """The innermost line of the user's own that an error went through."""
    line, trace = "", errors.traceback_of(error)
    while trace is not None:
        if placeholders.is_users(trace.tb_frame.f_code.co_filename):
            line = "%s:%d" % (placeholders.shortened_of(trace.tb_frame), trace.tb_lineno)
        trace = trace.tb_next
    kernel_line, kernel = errors.kernel_location(error).get("kernel_line"), errors.owner_of(error)
    if kernel_line and kernel is not None:
        line = "%s:%d" % (placeholders.shortened(kernel_line["file"], kernel.fn.__module__), kernel_line["line"])
    return line or "the kernel"
