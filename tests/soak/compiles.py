"""Compiles that misbehave: random actions, at a random point of a module's import or of its compile.

What is deadly is never ``ok``. What only disturbs is ``ok``, or triage cannot tell. Good compiles beside are ``ok``. An
action happens only while a flag file exists: without it every module compiles, and nothing of before may be remembered
that was not a verdict on the compile."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from pathlib import Path
from random import Random

from soak.campaign import Defect, Part, Try, documents
from triage.model.case import Case, frozen

TIMEOUT_S = 3.0
BAD, GOOD = 4, 2
"""Compiles in one call."""
OPTIONS = ("--arg", "x_ptr=*fp32", "--const", "BLOCK=64", "--target", "cuda:90", "--no-suggest", "--json")

MODULE = '''
import array, atexit, builtins, ctypes, fcntl, gc, json, mmap, os, resource, select, shutil, signal, socket, subprocess
import sys, threading, time
import triton
import triton.language as tl

FLAG = {flag!r}
_compile = triton.compile
# Other actions take them away.
_signal, _mask = signal.signal, signal.pthread_sigmask


@triton.jit
def add(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)


def above(depth):
    """Triage's servers above this process, never triage itself, whose end is nobody's fault."""
    pids, pid = [], os.getppid()
    while len(pids) < depth and pid > 1:
        with open(f"/proc/{{pid}}/cmdline") as file:
            if "harness/worker" not in file.read():
                break
        pids.append(pid)
        with open(f"/proc/{{pid}}/stat") as file:
            pid = int(file.read().rpartition(")")[2].split()[1])
    return pids


def descriptors():
    return [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]


def tell(data):
    for fd in descriptors():
        try:
            os.set_blocking(fd, False)
            os.write(fd, data)
        except OSError:
            pass


def die(number):
    try:
        _signal(number, signal.SIG_DFL)
    except (OSError, ValueError):
        pass
    _mask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    time.sleep(0.5)
    os._exit(9)


def act():
{actions}


def at_import():
{at_import}


def compile_(*arguments, **named):
    if os.path.exists(FLAG):
{at_compile}
    return _compile(*arguments, **named)


triton.compile = compile_
if os.path.exists(FLAG):
    at_import()
'''

DEADLY = [
    "os.abort()", "ctypes.string_at(0)", "os._exit({code})", "die({number})", "os.execv('/bin/true', ['true'])",
    "ctypes.CDLL(None).exit({code})",
    "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
]  # fmt: skip
RAISING = [
    "sys.exit(None)", "sys.exit({code})", "raise SystemExit('')", "raise KeyboardInterrupt", "raise GeneratorExit",
    "import nowhere_at_all", "exec('(' * 900)", "raise type('Odd', (BaseException,), {{'__str__': None}})",
    "raise MemoryError", "raise ExceptionGroup('x', [OSError(28, 'No space')]) if {code} % 2 else StopIteration",
]  # fmt: skip
HANGING = [
    "time.sleep(1000)", "while True: pass", "threading.Event().wait()", "os.read(os.pipe()[0], 1)",
    "while True: print('x' * 9999)", "while True: os.kill(os.getpid(), signal.SIGSTOP)",
    "signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))\nwhile True: pass",
    "while True: subprocess.run(['true'])",
]  # fmt: skip
GROUP = ["os.killpg(0, signal.SIGKILL)"]
"""Deadly, and in a child as well: the child is in the group of the compile."""
GREEDY = [
    "act()",  # each level does all the other actions again, a thousand times
    "x = []\nwhile True: x.append(bytearray(b'x') * (1 << 24))", "mmap.mmap(-1, 1 << 45)", "bytearray(1 << 40)",
    "x = mmap.mmap(-1, 3 << 30)\nfor at in range(0, 3 << 30, 4096): x[at] = 1",
]  # fmt: skip
DISTURBING = [
    "os.closerange(3, 4096)", "os.closerange(0, 4096)",
    "n = os.open('/dev/null', os.O_RDWR)\nfor fd in descriptors(): os.dup2(n, fd)",
    "tell(b'garbage')", "tell(os.urandom(4096))", "tell(b'[' * 9000)", "tell(b'{{\"op\": \"ready\", \"ok\": true}}')",
    "for at in range(60): tell(json.dumps({{'op': 'exit', 'id': str(at), 'status': 0, 'max_rss_bytes': 1}}).encode())",
    "tell(b'\\n{{\"ev\": \"done\", \"resources\": null, \"num_ctas\": 1}}\\n')",
    "for fd in descriptors():\n    try: socket.socket(fileno=os.dup(fd)).shutdown(2)\n    except OSError: pass",
    "signal.signal = signal.set_wakeup_fd = signal.pthread_sigmask = None",
    "signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))",
    "for n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass",
    "os.mkdir('gone')\nos.chdir('gone')\nos.rmdir(os.getcwd())", "os.chdir('/')", "os.umask(0o777)",
    "print('x' * (1 << 24))", "os.write(2, os.urandom(1 << 20))", "sys.stdout = sys.stderr = None",
    "subprocess.Popen(['sleep', '1000'], start_new_session=True)",
    "subprocess.Popen('sleep 1000 & sleep 1000 & disown', shell=True, start_new_session=True)",
    "for _ in range(5):\n    if not os.fork(): time.sleep(1000)",
    "if not os.fork():\n    for _ in range(5): os.fork()\n    time.sleep(1000)",
    "if not os.fork():\n    os.setsid()\n    if not os.fork():\n        os.closerange(0, 99)\n"
    "        time.sleep(1000)\n    os._exit(0)",
    "os.setpgid(0, 0)", "os.nice(19)", "gc.disable()", "sys.settrace(lambda *a: None)", "sys.argv[:] = []",
    "atexit.register(os._exit, {code})", "os.register_at_fork(after_in_child=lambda: os._exit({code}))",
]  # fmt: skip
UPWARD = [
    "for pid in above(1): os.kill(pid, signal.SIGSTOP)", "for pid in above(9): os.kill(pid, signal.SIGSTOP)",
    "for pid in above(1): os.kill(pid, signal.SIGKILL)", "for pid in above(9): os.kill(pid, signal.SIGKILL)",
    "for pid in above(3): os.kill(pid, {number})",
]  # fmt: skip
"""At the processes above: triage's servers, or the compile itself if a child of it does so."""
BREAKING = [
    "threading.Thread(target=lambda: [tell(b'x') for _ in iter(int, 1)], daemon=True).start()",
    "select.poll = select.select = socket.socket = socket.socketpair = None",
    "os.waitid = os.wait4 = os.waitpid = os.setsid = os.getppid = os.pipe2 = os._exit = None",
    "json.dumps = json.loads = lambda *a, **k: '{{}}'", "builtins.isinstance = builtins.open = None",
    "os.environ.clear()", "sys.path.clear()", "os.write = os.read = None", "resource.setrlimit(7, (0, 0))",
    "signal.setitimer(signal.ITIMER_REAL, 0.2, 0.01)",
    "if 'triage-' in os.environ['TMPDIR']: shutil.rmtree(os.environ['TMPDIR'])", "sys.modules.clear()",
    "os.register_at_fork(before=lambda: time.sleep(1000))", "sys.setrecursionlimit(60)", "os.setsid()",
    "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))", "resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))",
]  # fmt: skip
"""What may keep the compiler itself from working: any answer is right."""

CHILD = "if os.fork() == 0:\n    try: act()\n    finally: os._exit(0)\ntime.sleep(0.2)"
DAEMON = (
    "if os.fork() == 0:\n    try:\n        os.setsid()\n        if os.fork() == 0: act()\n    finally: os._exit(0)\n"
    "time.sleep(0.2)"
)
WHERE = {
    "in it": "act()",
    "a signal handler": "signal.signal(signal.SIGUSR1, lambda *_: act())\nsignal.raise_signal(signal.SIGUSR1)",
    "ptxas is called": "sys.addaudithook(lambda name, _: act() if name == 'subprocess.Popen' else None)",
    "a thread": "t = threading.Thread(target=act, daemon=True)\nt.start()\nt.join()",
    "a child": CHILD,
    "a daemon": DAEMON,
    "atexit": "atexit.register(act)",
    "after forks": "os.register_at_fork(after_in_child=act)",
}


@dataclass(frozen=True)
class Misuse:
    """A module that misbehaves, and which answers are right: ok, fails, could not tell."""

    name: str
    text: str
    right: frozenset[str]


def misuse(choose: Random, flag: Path) -> Misuse:
    kinds = {"deadly": DEADLY, "raising": RAISING, "hanging": HANGING, "greedy": GREEDY, "group": GROUP}
    kinds |= {"disturbing": DISTURBING, "upward": UPWARD, "breaking": BREAKING}
    chosen = [choose.choice(["disturbing", "breaking", "upward"]) for _ in range(choose.choice([0, 0, 1, 2]))]
    chosen.append(choose.choice(["deadly", "raising", "hanging", "greedy", "group", *["disturbing"] * 3, "upward"]))
    place, moment = choose.choice(list(WHERE)), choose.choice(["import", "compile"])
    actions = []
    for kind in chosen:
        values = {"code": choose.randrange(256), "number": choose.choice([1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 14, 15])}
        code = choose.choice(kinds[kind]).format(**values)
        harmless = kind in ("disturbing", "upward", "breaking")
        wrapped = f"try:\n{textwrap.indent(code, '    ')}\nexcept Exception: pass" if harmless else code
        actions.append(wrapped)
    setting = {"at_import": "pass", "at_compile": "pass", f"at_{moment}": WHERE[place]}
    text = MODULE.format(
        flag=str(flag),
        actions=textwrap.indent("\n".join(actions), "    "),
        at_import=textwrap.indent(setting["at_import"], "    "),
        at_compile=textwrap.indent(setting["at_compile"], "        "),
    )
    return Misuse(f"{moment}, {place}: {' + '.join(actions)}", text, right(chosen, place))


def right(kinds: list[str], place: str) -> frozenset[str]:
    """Which answers are right."""
    anything = frozenset({"ok", "fails", "could not tell"})
    end = kinds[-1]
    is_deadly = end in ("deadly", "raising", "hanging", "greedy", "group")
    if place in ("in it", "a signal handler", "ptxas is called"):
        if is_deadly:
            return anything - {"ok"}
        return anything if {"breaking", "upward"} & set(kinds) or place == "ptxas is called" else anything - {"fails"}
    if place == "a thread" and end in ("deadly", "hanging", "group"):
        return anything - {"ok"}
    # In a child, what is aimed at its parents hits the compile, and the memory of all counts. A thread and a child
    # share the descriptors of the compile.
    return anything if {"breaking", "upward", "greedy", "group"} & set(kinds) else anything - {"fails"}


def answers(current: Try, names: list[str]) -> tuple[list[str], list[str]]:
    """The answer for each module, and all that was printed of it."""
    bound_s = (len(names) + 1) // 2 * TIMEOUT_S
    limits = ("--timeout", str(TIMEOUT_S), "--memory", "1G", "--jobs", "2")
    done = current.triage("check", *names, *OPTIONS, *limits, bound_s=bound_s)
    told = {}
    for document in documents(done.out):
        line = json.dumps(document)
        if "could_not_tell" in document:
            told[document["case"]] = ("could not tell", line)
        else:
            status = document["outcome"]["status"]
            told[Path(document["case"]["kernel"]["file"]).stem] = ("ok" if status == "ok" else "fails", line)
    missing = ("", done.err[-500:])
    found = [told.get(name, missing) for name in names]
    return [answer for answer, _ in found], [text for _, text in found]


def misbehaving_compiles(part: Part) -> None:
    for current in part.tries():
        flag = current.folder / "flag"
        flag.touch()
        bad = [misuse(current.random, flag) for _ in range(BAD)]
        modules = {f"bad_{at}": each.text for at, each in enumerate(bad)}
        modules |= {f"good_{at}": MODULE.format(flag="", actions="    pass", at_import="    pass",
                                                at_compile="        pass") for at in range(GOOD)}  # fmt: skip
        for name, text in modules.items():
            # Case folders: of a file, only what the kernel reaches would be imported.
            case = Case(current.working / name, f"{name}.py", "add", frozen({"x_ptr": "*fp32"}))
            case.folder.mkdir()
            case.path.write_text(text)
            (case.folder / "case.json").write_text(json.dumps(case.to_json()))
        names = sorted(modules, key=lambda name: current.random.random())
        current.description = f"{BAD} bad among {GOOD} good"
        first, texts = answers(current, names)
        again = []
        for name, answer, text in zip(names, first, texts, strict=True):
            each = bad[int(name[4:])] if name.startswith("bad") else None
            current.description = f"{name}: {each.name}" if each else name
            allowed = each.right if each else {"ok"}
            current.expect(answer != "", Defect.LOST, f"no answer: {text}")
            current.expect(not answer or answer in allowed, Defect.FALSE, f"{answer}: {text[:3000]}")
            if each and (answer == "could not tell" or '"imported": false' in text):
                again.append(name)
        current.description = f"{BAD} bad among {GOOD} good: {'; '.join(each.name for each in bad)}"
        current.nothing_left()
        flag.unlink()
        if again:
            for name, answer in zip(again, answers(current, again)[0], strict=True):
                current.description = bad[int(name[4:])].name
                current.expect(answer == "ok", Defect.FALSE, f"remembered: {answer}")
