"""What a scrubber takes out, what it leaves, and that it neither harms nor hangs."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import one_in

from triage.cases import reproducers
from triage.filesystem import shipped
from triage.publish.privacy import LocalIdentity, Scrubber

JANE = LocalIdentity.of(
    {
        "USER": "jdoe42",
        "HOSTNAME": "gpu-node17",
        "ACME_API_TOKEN": "tiny-and-own-1",
        "PROJECT_CODE": "nightingale",
        "TRITON_LLVM_DEBUG_ONLY": "tritongpu-remove-layout-conversions",
        "LANG": "en_US.UTF-8",
    },
    user="jdoe42",
    host="gpu-node17.acme.example",
    home="/home/jdoe42",
    full_name="Jane Q. Doe",
)


def scrubbed(text: str, machine: LocalIdentity = JANE) -> str:
    return Scrubber(machine, [Path("/home/jdoe42/work/kernels")]).text(text)


# What is private stands in brackets of its own; those also keep scanners of repositories from taking this for a leak.
_MARKED = {
    "GitHub": "ghp_«aBcD1234eFgH5678iJkL9012mNoP3456qRsT»",
    "GitHub, fine-grained": "github_pat_«11ABCDEFG0»«a1B2c3D4e5F6g7H8_i9J0k1L2m3N4o5P6q7R8»",
    "GitLab": "glpat-«aBcD1234eFgH5678iJkL»",
    "AWS id": "AKIA«IOSFODNN2EXAMPLE»",
    "AWS secret": "«wJalrXUtnFEMI»/«K7MDENG»/«bPxRfiCYEXAMPLEKEY»",
    "Google": "AIza«SyA1234567890abcdefghijklmnopqrstuv»",
    "Google OAuth": "ya29.«a0AfH6SMBx1234567890abcdefghij»",
    "Azure client secret": "abc8Q~«abcdefghijklmnopqrstuvwxyz0123456789»",
    "Hugging Face": "hf_«aBcDeFgHiJkLmNoPqRsTuVwXyZ12345678»",
    "OpenAI": "sk-proj-«aBcDeFgHiJkLmNoPqRsT1234567890»",
    "Anthropic": "sk-ant-«api03-aBcDeFgHiJkLmNoPqRsT1234567890»",
    "Slack": "xoxb-«123456789012-1234567890123-aBcDeFgHiJkL»",
    "Slack webhook": "https://hooks.slack.com/services/«T00000000»/«B00000000»/«aBcDeFgHiJkL»",
    "npm": "npm_«aBcDeFgHiJkLmNoPqRsTuVwXyZ1234567890»",
    "PyPI": "pypi-«AgEIcHlwaS5vcmcCJGFiY2RlZjEyLTM0NTYtNzg5MC1hYmNk»",
    "API key with hyphens": "sk-test-«abc1234567890def»",
    "storage": "s3://«acme-models»/«secret-plans»/x.bin",
    "ARN": "arn:aws:iam::«123456789012:user»/«zoe-of-arn»",
    "Azure connection": "AccountName=«acmestore»;AccountKey=«aBcD1234eFgH5678iJkL»==;EndpointSuffix=core.windows.net",
    "AWS id, invented": "AKIA«1234567890ABCDEF»",
    "git remote": "git@github.com:«acme»/«secret-plans».git",
    "Stripe": "sk_live_«aBcDeFgHiJkLmNoPqRsT1234»",
    "NVIDIA": "nvapi-«aBcDeFgHiJkLmNoPqRsTuVwXyZ1234567890»",
    "web token": "eyJ«hbGciOiJIUzI1NiJ9».eyJ«zdWIiOiIxMjM0NTY3ODkwIn0».«dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U»",
    "private key": "-----BEGIN RSA PRIVATE« »KEY-----\n«MIIEowIBAAKCAQEA7»\n«abcdef»\n-----END RSA PRIVATE« »KEY-----",
    "bearer": "Authorization: Bearer «abc.DEF-123456789»",
    "basic": "authorization: Basic «dXNlcjpwYXNzd29yZA»==",
    "header": "X-Api-Key: «0123456789abcdef»",
    "cookie": "Set-Cookie: session=«0123456789abcdef»; Path=/",
    "password": "password=«hunter2!»",
    "assignment": "export ACME_SECRET=«s3cr3t-value»",
    "JSON": '"client_secret": "«aBcD1234eFgH»"',
    "option": "tool --token «abcd1234efgh»",
    "curl": "curl -sS -u jane:«pa55word» https://x.example/",
    "netrc": "machine x.example login jane password «pa55word»",
    "connection": "postgresql://svc:«pa55word»@db.example/prod",
    "account key": "AccountName=acme;AccountKey=«aBcD1234eFgH5678iJkL»==;",
    "signed URL": "https://b.s3.example/x?X-Amz-Signature=«0123456789abcdef0123456789abcdef»",
    "SSH": "ssh-ed25519 «AAAAC3NzaC1lZDI1NTE5AAAAIJ1234567890abcdefghij» «jdoe42@laptop»",
    "e-mail": "«jane.doe»@«acme.example»",
    "IP address": "connect to «10.20.30.40»:8080",
    "IPv6 address": "«fe80::1ff:fe23:4567:890a»",
    "MAC address": "«00:1a:2b:3c:4d:5e»",
    "internal host": "«worker-7.cluster».internal",
    "own value": "«tiny-and-own-1»",
    "other value": "«nightingale»",
    "user": "by «jdoe42» on a Tuesday",
    "person": "«Jane Q. Doe»",
    "host": "«gpu-node17»",
    "home, Linux": "/home/«jdoe42»/«secret-plans»/kernel.py",
    "home, macOS": "/Users/«jdoe42»/«secret-plans»/kernel.py",
    "home, Windows": "C:\\Users\\«jdoe42»\\«secret-plans»\\kernel.py",
    "home, escaped": "C:\\\\Users\\\\«jdoe42»\\\\«secret-plans»\\\\kernel.py",
    "home, with a space": "'/home/«Jane» «Dovecote»/«vault9» plans/kernel.py'",
    "other home": "/home/«xavier9»/«secret-plans»/kernel.py",
    "tilde": "~/«secret-plans»/kernel.py",
    "mounted": "/mnt/«lustre»/«acme-corp»/«secret-plans»/kernel.py",
}  # fmt: skip
KEYS = {name: re.sub("[«»]", "", text) for name, text in _MARKED.items()}
PRIVATE = {name: [one for one in re.findall("«(.*?)»", text) if one.strip()] for name, text in _MARKED.items()}


@pytest.mark.parametrize("name", KEYS)
def test_what_is_private_goes(name: str) -> None:
    text, known = KEYS[name], PRIVATE[name]
    for around in ("{}", "# {} in a comment", 'x = "{}"', "[rank0]: {}\n", "a\n{}\nb"):
        found = scrubbed(around.format(text))
        assert [one for one in known if one in found] == [], found


KEPT = (
    "%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}",
    "#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>",
    '%token = ttng.async_tma_copy_global_to_local %desc[%i, %j] %buf, %bar, %true : !tt.tensordesc<tensor<64x64xf16>>',
    "%3 = ttg.async_commit_group tokens %2 : !ttg.async.token",
    "Triton 3.9.0.1, triton==3.9.0.1 and 3.9.0.1",
    "ptxas release 12.4, V12.4.131; nvidia-cublas-cu12==12.4.5.8",
    "NVGPUToLLVMPass.cpp:528: std::string {anonymous}::WGMMAOpPattern::getPtxAsm(mlir::triton::nvgpu::WGMMAOp) const",
    "def kernel(a_ptr, num_tokens: tl.constexpr, KEY_DIM: tl.constexpr, pad_token=0):",
    "token = tl.load(token_ptr + key, mask=mask); key = offsets % 128; auth = a @ b.T",
    "SORT_KEY=64 HAS_TOKEN=True PASSWORD_DTYPE=tl.float32",
    "acc += q@k.trans() ; c = a@b",
    "/usr/local/cuda-12.4/bin/ptxas and /usr/lib/x86_64-linux-gnu/libc.so.6 and /proc/self/maps",
    "https://github.com/triton-lang/triton/issues/6302",
    "v2|assertion|NVGPUToLLVMPass.cpp|supported && \"WGMMA type or shape is not supported\"",
    "1ecd241a587c95ba40118d02cafdc29e and 3428c10a4fb94c9db788b7acd6b55147b7acd6b5",
    "@%p1 bra LBB0_2; mov.b32 %r1, 0x3f800000; wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32",
    "\\0A{\\0A\\09.reg .pred complete;\\0A\\09waitLoop:\\0A\\09mbarrier.try_wait.parity.shared::cta.b64",
    "pass tritongpu-remove-layout-conversions",
    "at 12:34:56 on 2026-11-21T17:00:00Z, warp 0:3, a::b::c, 127.0.0.1 and 0.0.0.0",
    "threading.local() and llvm.internal and torch.distributed.internal",
)  # fmt: skip


@pytest.mark.parametrize("text", KEPT)
def test_what_a_compiler_says_stays(text: str) -> None:
    assert scrubbed(text) == text


PATHS = {
    "/home/jdoe42/work/kernels/fused/mm.py:12": "fused/mm.py:12",
    'loc("/home/jdoe42/work/kernels/mm.py":13:0)': 'loc("mm.py":13:0)',
    "/home/jdoe42/envs/a/lib/python3.11/site-packages/triton/compiler/compiler.py": "triton/compiler/compiler.py",
    "/opt/conda/lib/python3.11/asyncio/base.py": "python3.11/asyncio/base.py",
    "/project/third_party/nvidia/lib/NVGPUToLLVM/X.cpp:528:": "third_party/nvidia/lib/NVGPUToLLVM/X.cpp:528:",
    "/__w/triton/triton/llvm-project/llvm/Support/Error.h": "llvm-project/llvm/Support/Error.h",
    "/tmp/triage-12-ab/tmpx.ptx": "\u2026/tmpx.ptx",
    "/home/jdoe42": "~",
    "-I/home/jdoe42/include": "-I~/include",
    "file:///home/jdoe42/a/b.py": "file://\u2026/b.py",
}


@pytest.mark.parametrize("path", PATHS)
def test_paths_are_the_project_s_or_a_package_s(path: str) -> None:
    assert scrubbed(path) == PATHS[path]


def test_names_in_code_stay_identifiers_and_are_the_same_everywhere() -> None:
    found = Scrubber(JANE)
    assert found.text("def jdoe42_matmul(x):") == "def user_matmul(x):"
    assert found.text("tt.func public @jdoe42_matmul(") == "tt.func public @user_matmul("


def test_a_name_that_is_a_word_goes_only_where_a_name_stands() -> None:
    will = LocalIdentity.of({}, user="max", home="/home/max")
    text = "tl.max(x) is the max; max@laptop /data/max/x"
    assert scrubbed(text, will) == "tl.max(x) is the max; user@laptop \u2026"


def test_whose_home_a_log_names_is_removed_from_it() -> None:
    assert scrubbed("/home/xavier9/a.py, said xavier9") == "\u2026/a.py, said user"


def test_a_log_full_of_homes_costs_little() -> None:
    text = "\n".join(f"/home/person{number}x/a.py" for number in range(20_000))
    began = time.monotonic()
    assert "person" not in scrubbed(text)
    assert time.monotonic() - began < 10


def test_names_of_the_kernel_are_no_values() -> None:
    machine = LocalIdentity.of({"KERNEL": "flash_attention_fwd"})
    assert (
        Scrubber(machine, keep=["flash_attention_fwd"]).text("def flash_attention_fwd(") == "def flash_attention_fwd("
    )
    assert Scrubber(machine).text("flash_attention_fwd") == "<environment>"


def test_documents_lose_what_their_fields_are_named_for() -> None:
    found = Scrubber(JANE).document(
        {"api_key": "plainword", "file": "/home/jdoe42/x.py", "n": 3, "more": [{"Password": "swordfish"}, None, True]}
    )
    assert found == {
        "api_key": "<secret>",
        "file": "\u2026/x.py",
        "n": 3,
        "more": [{"Password": "<secret>"}, None, True],
    }


def test_the_words_of_a_command_are_read_as_one() -> None:
    words = ["python", "x.py", "--hf-token", "plainword", "-v", "--Password", "swordfish", "--tokens"]
    assert Scrubber(JANE).document(words) == [*words[:3], "<secret>", "-v", "--Password", "<secret>", "--tokens"]


def test_what_was_removed_is_counted() -> None:
    found = Scrubber(JANE)
    found.text(f"jane@acme.example, ann@acme.example {KEYS['GitHub']}")
    assert found.removed == {"e-mail address": 2, "GitHub token": 1}


def test_the_tail_of_a_key_goes_as_well() -> None:
    tail = (
        "# QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\n# QUJDREVGR0hJSktMTU5PUFFSU1RV\n# -----END OPENSSH "
        + "PRIVATE KEY-----"
    )
    assert "QUJD" not in scrubbed(f"{tail}\nnext")


# ---- properties

_PIECES = st.sampled_from(
    [*KEYS.values(), *KEPT, *PATHS, "\n", " ", "=", ":", "'", '"', "<", "token", "/", "\\", "@", "1.2.3.4"]
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=8)), max_size=8).map("".join))
@example("Authorization: Bearer abcdef0123456789")
@example("token=<secret>token=abcdefghijklmnop1234")
def test_what_was_scrubbed_stays_as_it_is(text: str) -> None:
    once = scrubbed(text)
    assert scrubbed(once) == once


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="abcXYZ_ 019%#.,:=()[]{}<>+-*\n", max_size=200))
def test_code_without_secrets_is_left_alone(text: str) -> None:
    assert scrubbed(text, LocalIdentity()) == text or "=" in text or ":" in text or "/" in text


@pytest.mark.parametrize(
    "piece",
    one_in(
        3,
        [
            "a",
            "/a",
            "a.b@",
            "1-",
            "=:_",
            "aaaa.",
            "A:\\",
            "token=",
            "eyJ",
            "//",
            "(((",
            "'",
            "x@y.",
            "::",
            "-----BEGIN PRIVATE KEY-----",
        ],
    ),
)
def test_time_grows_with_the_text_alone(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    began = time.process_time()
    scrubbed(text)
    assert time.process_time() - began < 1.5


# ---- nothing of a real report but its paths


def _all_texts() -> list[Path]:
    found = [path for path in shipped.data_folder("reproducers").rglob("*") if path.suffix in (".py", ".json", ".md")]
    return found + list(shipped.data_folder("knowledge_base").rglob("*.toml"))


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_nothing_in_reproducers_and_knowledge_is_private(step: int) -> None:
    """Kernels and prose of 87 failures: not one word of them is taken for a secret, a name or an address."""
    assert len(reproducers.names()) > 80
    found = Scrubber(LocalIdentity())
    for path in _all_texts()[::step]:
        found.text(path.read_text(encoding="utf-8"))
    assert {name for name in found.removed if name != "path"} == set()


def test_a_report_stays_the_same_but_for_its_paths() -> None:
    folder = Path(__file__).parent / "finished"
    found = Scrubber(LocalIdentity())
    for path in sorted(folder.rglob("*.*")):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            assert found.document(json.loads(text)).keys() == json.loads(text).keys()
        else:
            assert found.text(text).count("\n") == text.count("\n")
    assert set(found.removed) <= {"path", "user name"}
