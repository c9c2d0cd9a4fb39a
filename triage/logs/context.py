"""What a log tells besides the failures: which pass ran, which stage, met on the way through the lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from triage.logs.recognisers.silent_pass import failed_pass

_STAGE = re.compile(r", in make_(ttir|ttgir|llir|ptx|cubin|amdgcn|hsaco)\b")
_FRONTEND = re.compile(r", in (?:make_ir|ast_to_ttir)\b")


def _dumped_pass(line: str) -> tuple[str, str | None]:
    """Name and argument in ``// -----// IR Dump Before Canonicalizer (canonicalize) ('tt.func' …) //----- //``."""
    words = line.partition("IR Dump Before ")[2][:400].rstrip("-/* ").split(" ")
    argument = words[1].strip("()") if len(words) > 1 and words[1].startswith("(") else ""
    # What is in quotes is the operation that it ran on; a pass without an argument has that second.
    return words[0], argument if argument and not argument.startswith("'") else None


@dataclass(slots=True)
class Context:
    """Collects while the lines go by; asked once they have all gone."""

    dumped: str | None = None
    stage: str | None = None
    #: (position, name) of every `Pipeline failed` line.
    failed: list[tuple[int, str]] = field(default_factory=list)
    _arguments: dict[str, str] = field(default_factory=dict)

    def see(self, position: int, line: str) -> None:
        """Take from a line what it tells."""
        if "IR Dump Before " in line:
            name, argument = _dumped_pass(line)
            self.dumped = argument or name
            # A pipeline has some hundred passes; a longer list is no pipeline's.
            if argument and len(self._arguments) < 1000:
                self._arguments[name] = argument
        elif "Pipeline failed while executing " in line:
            failed = failed_pass(line) if len(self.failed) < 1000 else None
            self.failed += [(position, failed)] if failed else []
        elif ", in " in line:
            if match := _STAGE.search(line):
                self.stage = match.group(1)
            elif self.stage is None and _FRONTEND.search(line):
                self.stage = "source"

    def pass_at(self, position: int) -> str | None:
        """The pass that ran when the failure at ``position`` was printed."""
        for failed_at, name in self.failed:
            if failed_at >= position:
                return name
        return self.dumped

    def argument_of(self, name: str) -> str:
        """The pass's name on a command line, where the log tells it: `convert-triton-gpu-to-llvm`."""
        return self._arguments.get(name, name)
