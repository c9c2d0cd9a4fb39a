"""Credentials of a hundred issuers in every place where a report may have them: nothing of any leaves.

None is real: each is generated from a form, such as ``figd_{word40}``, and is complete only while a test runs."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from rows import each_row, one_in

from triage.publish.privacy import LocalIdentity, Scrubber
from triage.publish.privacy.tokens import table

_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "digit": string.digits,
    "word": string.ascii_letters + string.digits + "_-",
    "base": string.ascii_letters + string.digits + "+/",
}

TOKENS = {
    "GitHub": "ghp_{alnum36}",
    "GitHub, fine-grained": "github_pat_{alnum22}_{alnum59}",
    "GitLab": "glpat-{word20}",
    "GitLab, runner": "glrt-{word20}",
    "GitLab, deploy": "gldt-{word20}",
    "Bitbucket": "ATBB{alnum32}",
    "Atlassian": "ATATT3xFfGF0{word160}",
    "npm": "npm_{alnum36}",
    "PyPI": "pypi-AgEIcHlwaS5vcmc{word120}",
    "RubyGems": "rubygems_{hex48}",
    "crates.io": "cio{alnum32}",
    "NuGet": "oy2{lower43}",
    "Docker Hub": "dckr_pat_{word27}",
    "JFrog": "AKCp{alnum69}",
    "JFrog, reference": "cmVmdGtuOjAx{alnum52}",
    "Sonar": "squ_{hex40}",
    "Sourcegraph": "sgp_{hex40}",
    "Octopus": "API-{upper26}",
    "AWS id": "AKIA{upper16}",
    "AWS secret": "{base19}/{base20}",
    "AWS session": "IQoJb3JpZ2lu{base200}",
    "Bedrock": "ABSK{base110}",
    "Google API": "AIza{word35}",
    "Google OAuth": "ya29.{word60}",
    "Google client secret": "GOCSPX-{word28}",
    "Google refresh": "1//0{word40}",
    "Azure client secret": "{alnum3}8Q~{word34}",
    "Azure DevOps": "{alnum52}JQQJ99{alnum20}AZDO{alnum4}",
    "Alibaba": "LTAI{alnum20}",
    "Tencent": "AKID{alnum32}",
    "Yandex": "AQVN{word36}",
    "DigitalOcean": "dop_v1_{hex64}",
    "Heroku": "HRKU-{word60}",
    "Netlify": "nfp_{alnum36}",
    "Fly": "fm2_{base120}",
    "Fly, prefix": "FlyV1 fm2_{base120}",
    "Cloudflare": "v1.0-{hex24}-{hex146}",
    "Vercel": "vcp_{alnum56}",
    "Supabase": "sbp_{hex40}",
    "PlanetScale": "pscale_tkn_{word43}",
    "Pulumi": "pul-{hex40}",
    "Prefect": "pnu_{alnum36}",
    "OpenShift": "sha256~{word43}",
    "Databricks": "dapi{hex32}",
    "Hugging Face": "hf_{alnum34}",
    "OpenAI": "sk-{alnum48}",
    "OpenAI, project": "sk-proj-{word74}T3BlbkFJ{word74}",
    "Anthropic": "sk-ant-api03-{word93}AA",
    "OpenRouter": "sk-or-v1-{hex64}",
    "DeepSeek": "sk-{hex32}",
    "Langfuse": "sk-lf-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}",
    "Groq": "gsk_{alnum52}",
    "xAI": "xai-{alnum80}",
    "Replicate": "r8_{alnum37}",
    "NVIDIA": "nvapi-{word64}",
    "Perplexity": "pplx-{alnum48}",
    "Together": "tgp_v1_{word43}",
    "Fireworks": "fw_{alnum24}",
    "RunPod": "rpa_{upper40}",
    "Jina": "jina_{hex32}{word27}",
    "LangSmith": "lsv2_pt_{hex32}_{hex10}",
    "Tavily": "tvly-{alnum32}",
    "Tavily, dev": "tvly-dev-{alnum32}",
    "Pinecone": "pcsk_{alnum6}_{alnum63}",
    "W&B": "wandb_v1_{word60}",
    "Kaggle": "KGAT_{hex32}",
    "Tailscale": "tskey-auth-{alnum12}CNTRL-{alnum32}",
    "Stripe": "sk_live_{alnum24}",
    "Stripe, webhook": "whsec_{alnum32}",
    "Square": "sq0atp-{word22}",
    "Facebook": "EAAC{alnum100}",
    "Plaid": "access-production-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}",
    "Shopify": "shpat_{hex32}",
    "Flutterwave": "FLWSECK_TEST-{hex32}-X",
    "EasyPost": "EZAK{alnum54}",
    "Slack": "xoxb-{digit12}-{digit13}-{alnum24}",
    "Slack, app": "xapp-1-{upper11}-{digit13}-{hex64}",
    "Discord": "MT{alnum24}.{word6}.{word38}",
    "Telegram": "{digit10}:AA{word33}",
    "Twilio": "SK{hex32}",
    "SendGrid": "SG.{word22}.{word43}",
    "Brevo": "xkeysib-{hex64}-{alnum16}",
    "Mailgun": "key-{hex32}",
    "Mailchimp": "{hex32}-us12",
    "Resend": "re_{alnum8}_{alnum24}",
    "Figma": "figd_{word40}",
    "Notion": "ntn_{digit11}{alnum35}",
    "Notion, old": "secret_{alnum43}",
    "Postman": "PMAK-{hex24}-{hex34}",
    "Linear": "lin_api_{alnum40}",
    "Airtable": "pat{alnum14}.{hex64}",
    "HubSpot": "pat-na1-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}",
    "Contentful": "CFPAT-{word43}",
    "Dropbox": "sl.{word135}",
    "1Password": "ops_eyJ{alnum200}",
    "1Password, key": "A3-{upper6}-{upper11}-{upper5}-{upper5}-{upper5}",
    "Vault": "hvs.{word90}",
    "Terraform": "{alnum14}.atlasv1.{word67}",
    "Sentry": "sntrys_eyJpYXQiO{alnum100}_{alnum43}",
    "Sentry, user": "sntryu_{hex64}",
    "Grafana": "glsa_{alnum32}_{hex8}",
    "New Relic": "NRAK-{upper27}",
    "New Relic, license": "{hex36}FFFFNRAL",
    "Doppler": "dp.st.prd.{alnum43}",
    "Dynatrace": "dt0c01.{upper24}.{upper64}",
    "age": "AGE-SECRET-KEY-1{upper58}",
    "web token": "eyJhbGciOiJIUzI1NiJ9.eyJ{word40}.{word43}",
    "bcrypt": "$2b$12${alnum53}",
    "crypt": "$6${alnum16}${alnum86}",
    # Of nobody: the generic rule.
    "unknown prefix": "acme_{alnum32}",
    "unknown prefix with a hyphen": "zz9-live-{alnum40}",
    "unknown, bare": "{alnum40}",
}
"""What has a form of its own, wherever it stands."""

NAMED = {
    "assigned": "export ACME_PASSWORD={alnum12}",
    "YAML": "password: {lower10}",
    "YAML, a word": "db_password: correcthorse{digit2}",
    "INI": "api_key = {alnum20}",
    "JSON": '{"client_secret": "{alnum20}"}',
    "JSON within JSON": r'"{\"client_secret\": \"{alnum20}\", \"n\": 1}"',
    "annotated": 'password: str = "{alnum12}"',
    "triple quotes": 'PASSWORD = """{alnum12}"""',
    "environ": 'os.environ["HF_TOKEN"] = "{alnum30}"',
    "setdefault": 'os.environ.setdefault("ACME_SECRET", "{alnum20}")',
    "getenv": 'os.getenv("ACME_PASSWORD", "{alnum12}")',
    "camel case": 'dbPassword: "{alnum12}", apiKey: "{hex32}"',
    "Docker": "ENV ACME_API_KEY {alnum20}",
    "fish": "set -gx ACME_PASSWORD {alnum12}",
    "Windows": "setx ACME_API_TOKEN {alnum20}",
    "PowerShell": 'ConvertTo-SecureString "{alnum12}" -AsPlainText -Force',
    "build argument": "docker build --build-arg GIT_TOKEN={alnum20} .",
    "preprocessor": '#define API_KEY "{alnum20}"',
    "C++": 'constexpr std::string_view kApiToken{"{alnum20}"};',
    "YAML block": "password: |\n  {alnum12}",
    "Markdown": "**Password:** {alnum12}",
    "HTML": "<b>Password</b>: {alnum12}",
    "HTML table": "<td>Password</td><td>{alnum12}</td>",
    "Wi-Fi": "nmcli con modify net wifi-sec.psk {alnum12}",
    "csh": "setenv ACME_PASSWORD {alnum12}",
    "Kubernetes": "- name: ACME_TOKEN\n  value: {alnum20}",
    "XML": "<password>{alnum12}</password>",
    "NuGet": '<add key="ClearTextPassword" value="{alnum12}" />',
    "npmrc": "//registry.npmjs.org/:_authToken={alnum36}",
    "docker": '{"auths": {"x.example": {"auth": "{alnum24}12=="}}}',
    "kaggle": '{"username": "acme", "key": "{hex32}"}',
    "netrc": "machine x.example\n  login {lower12}\n  password {alnum12}",
    "pgpass": "db.example:5432:prod:svc:{alnum12}",
    "W&B": "wandb: Paste an API key from your profile and hit enter: {hex40}",
    "W&B, login": "wandb login {hex40}",
    "prose": "my API key is {hex40}, please rotate",
    "token in prose": "with token {hex40}",
    "Datadog": "DD_API_KEY={hex32}",
    "Cohere": 'co = cohere.Client(api_key="{alnum40}")',
    "prompt": "Password: {alnum10}",
    "sudo": "[sudo] password for jane: {alnum10}",
    "ssh key": "Enter passphrase for key 'id_rsa': {alnum10}",
    "password in prose": "the password is {alnum10}",
    "bearer": "Authorization: Bearer {alnum40}",
    "basic": "curl -H 'Authorization: Basic {base40}=' x.example",
    "digest": 'Authorization: Digest username="{lower10}", response="{hex32}"',
    "header": "-H 'X-Api-Key: {hex32}'",
    "header in Python": '{"X-Auth-Token": "{hex32}"}',
    "cookie": "Cookie: sid={hex32}; csrftoken={hex32}",
    "curl": "curl -sS -u {lower8}:{alnum12} https://x.example/",
    "curl, attached": "curl -u{lower8}:{alnum12} https://x.example/",
    "netrc in a line": "machine x.example login {lower12} password {alnum12}",
    "environment": "DB_PASS={lower10} LDAP_BIND_PW={alnum12} pwd={lower10}",
    "Ansible": "ansible_become_pass: {alnum10}",
    "pass phrase": "Enter PEM pass phrase: {alnum10}",
    "prompt of git": "Password for 'https://x.example': {alnum10}",
    "Sonar": "sonar.login={hex40}",
    "Snowflake": "snowsql -a acme -u jane -p {alnum12}",
    "multipart": "curl -F token={alnum20} https://x.example/",
    "login call": 'wandb.login(key="{hex40}")',
    "boto": 'boto3.client("s3", aws_secret_access_key="{base40}")',
    "Spring": "spring.datasource.password={alnum12}",
    "Kubernetes secret": "kubectl create secret generic x --from-literal=password={alnum12}",
    "passphrase": "passphrase: {lower8} {lower8} {lower8}",
    "digits": "password = {digit8}, PASSWORD: {digit8}",
    "list": 'api_keys = ["{alnum20}", "{alnum20}", "{alnum20}"]',
    "wrapped": 'password=SecretStr("{alnum10}")',
    "curl, cookie": "curl -b 'sid={hex32}' https://x.example/",
    "wget": "wget --user=jane --password={alnum12} https://x.example/",
    "mysql": "mysql -h db -uroot -p{alnum12} prod",
    "mysql, long": "mysqldump --password={alnum12} prod",
    "sshpass": "sshpass -p {alnum12} ssh node",
    "docker login": "docker login -u jane -p {alnum12} x.example",
    "redis": "redis-cli -h cache -a {alnum12} ping",
    "redis, config": "requirepass {alnum12}",
    "SQL": "CREATE USER jane IDENTIFIED BY '{alnum12}'",
    "SQL, Postgres": "ALTER ROLE jane WITH PASSWORD '{alnum12}'",
    "psql": "PGPASSWORD={alnum12} psql -h db",
    "option": "tool --hf-token {alnum20}",
    "postgres": "postgres://svc:{alnum12}@db.example:5432/prod",
    "special letters": "postgres://svc:{alnum6}/{alnum6}#{alnum6}@db.example/prod",
    "mongodb": "mongodb+srv://svc:{alnum12}@cluster0.example/prod?retryWrites=true",
    "redis URL": "redis://:{alnum12}@cache.example:6379/0",
    "amqp": "amqp://svc:{alnum12}@mq.example/vhost",
    "JDBC": "jdbc:mysql://db.example/prod?user=svc&password={alnum12}",
    "JDBC, Oracle": "jdbc:oracle:thin:scott/{alnum12}@db.example:1521:prod",
    "ODBC": "Server=tcp:x,1433;Uid=svc;Pwd={alnum12};Encrypt=yes",
    "Azure storage": "AccountName={lower10};AccountKey={base86}==;EndpointSuffix=core.windows.net",
    "Azure SAS": "https://x.example/c?sv=2024&sig={alnum43}%3D",
    "git": "https://oauth2:{alnum20}@gitlab.example/acme/x.git",
    "index": "pip install --index-url https://svc:{alnum20}@nexus.example/simple x",
    "Sentry DSN": "SENTRY_DSN=https://{hex32}@o1.ingest.example/2",
    "Jupyter": "http://127.0.0.1:8888/lab?token={hex48}",
    "fragment": "https://x.example/cb#access_token={alnum40}&n=1",
    "escaped URL": "next=https%3A%2F%2Fx.example%2F%3Ftoken%3D{alnum20}%26n%3D1",
    "Slack webhook": "https://hooks.slack.com/services/T{upper8}/B{upper8}/{alnum24}",
    "Discord webhook": "https://discord.com/api/webhooks/{digit18}/{word68}",
    "Telegram URL": "https://api.telegram.org/bot{digit10}:AA{word33}/getMe",
    "requests": "requests.get(u, auth=('jane', '{alnum12}'))",
    "ssh": "ssh -p 22 j{lower10}@gpu-{digit4}",
    "ssh prompt": "j{lower10}@gpu-{digit4}'s password: ",
    "PuTTY": "Private-Lines: 2\n{base64}\n{base24}\nPrivate-MAC: {hex64}",
    "PEM": "-----BEGIN RSA PRIVATE" + " KEY-----\n{base64}\n{base64}\n{base32}==\n-----END RSA PRIVATE" + " KEY-----",
    "PEM behind a prefix": "[r0] -----BEGIN PRIVATE" + " KEY-----\n[r0] {base64}\n[r0] {base64}\n",
    "PEM in JSON": r'"-----BEGIN PRIVATE' + r" KEY-----\n{base64}\n{base40}\n-----END PRIVATE" + r' KEY-----\n"',
    "e-mail": "{lower10}@{lower10}.example",
}
"""What is recognised by what stands before it."""

AROUND = {
    "log": "[rank0]: 2026-11-21 12:00:00 {}",
    "comment": "%0 = arith.constant 1 : i32 // {}",
    "string": 'x = "{}"',
    "list": "['a', '{}', 'b']",
    "call": "f({})",
    "path": "/data/{}/kernel.py",
    "query": "https://x.example/a?n=1&v={}&m=2",
    "lines": "a\n{}\nb",
    "location": 'loc("{}":12:0)',
}


def generated(form: str, seed: int = 0) -> tuple[str, list[str]]:
    """A credential of that form, and its secret parts."""
    choose = random.Random(f"{form} {seed}")
    parts: list[str] = []

    def part(match: re.Match[str]) -> str:
        made = "".join(choose.choices(_ALPHABETS[match[1]], k=int(match[2])))
        # Ends that are punctuation belong to the text around, and a few random letters may be hexadecimal or a word.
        made = "a" + made[1:-2] + "7B" if match[1] in ("alnum", "word", "base") and len(made) > 9 else made
        parts.append(made)
        return made

    return re.sub(rf"\{{({'|'.join(_ALPHABETS)})(\d+)\}}", part, form), parts


def leaks(scrubbed: str, parts: list[str]) -> list[str]:
    """The secret parts of which six characters in a row are in a text."""
    return [part for part in parts if any(part[at : at + 6] in scrubbed for at in range(len(part) - 5))]


_SCRUBBER = Scrubber(LocalIdentity())


def scrubbed(text: str) -> str:
    return _SCRUBBER.text(text)


@each_row(TOKENS)
def test_a_token_anywhere(name: str) -> None:
    for seed in range(2):
        token, parts = generated(TOKENS[name], seed)
        for around in AROUND.values():
            text = around.format(token)
            assert leaks(scrubbed(text), parts) == [], text
        joined = "" if TOKENS[name][0] in "{$" else "_"
        for text in (f"{joined}{token}", f"v%3D{quote(token, safe='')}", rf"a\n{token}\n", json.dumps({"a": [token]})):
            assert leaks(scrubbed(text), parts) == [], text
        found = scrubbed(f"see {token} here")
        assert found.startswith("see ") and found.endswith(" here")


@each_row(NAMED)
def test_a_credential_behind_its_name(name: str) -> None:
    for seed in range(2):
        text, parts = generated(NAMED[name], seed)
        for around in ("{}", "# {}", "[rank0]: {}", "// {}\n", "a\n{}\nb\n"):
            assert leaks(scrubbed(around.replace("{}", text)), parts) == [], text


def behind(prefix: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{prefix}{line}" for line in text.splitlines(keepends=True))


LAYOUTS: dict[str, Callable[[str], str]] = {
    "a literal": repr,
    "a literal with both quotes": lambda text: repr(f'"{text}\' "'),
    "a literal within JSON": lambda text: json.dumps(repr(f'"{text}\' "')),
    "JSON": lambda text: json.dumps({"x": text}),
    "JSON within JSON": lambda text: json.dumps(json.dumps({"x": text})),
    "coloured": lambda text: f"\x1b[31m{text}\x1b[0m",
    "coloured literal": lambda text: repr(f"\x1b[31m{text}\x1b[0m"),
    "coloured JSON": lambda text: json.dumps({"x": f"\x1b[31m{text}\x1b[0m"}),
    "other line ends": lambda text: text.replace("\n", "\r\n"),
    "comment": behind("# "),
    "C comment": behind("// "),
    "diff": behind("+"),
    "rank": behind("[rank0]: "),
    "quotation": behind("> "),
    "list": behind("  * "),
    "pytest": behind("E   "),
    "log": behind("2026-11-21 12:00:00,123 INFO: "),
    "commented literal": lambda text: f"# {text!r}",
}


@pytest.mark.parametrize("layout", one_in(2, LAYOUTS))
def test_a_credential_in_a_text_with_a_layout(layout: str) -> None:
    """A literal, colours, or something before each line."""
    for form in (*NAMED.values(), *list(TOKENS.values())[::7]):
        text, parts = generated(form)
        around = text if layout.startswith("coloured") else f"a\n{text}\nb"
        assert leaks(scrubbed(LAYOUTS[layout](around)), parts) == [], form


def test_what_is_removed_is_counted_once() -> None:
    scrubber = Scrubber(LocalIdentity())
    token, _ = generated(TOKENS["GitHub"])
    scrubber.text(f"# {token}\n# {token}\n")
    assert sum(scrubber.removed.values()) == 2


@pytest.mark.parametrize("name", ["GitHub", "OpenAI", "AWS id", "web token", "Slack"])
def test_a_token_within_base64(name: str) -> None:
    token, _ = generated(TOKENS[name])
    for text in (f"token={token}", f'{{"a": "{token}"}}', token):
        encoded = base64.b64encode(text.encode()).decode()
        assert encoded[:12] not in scrubbed(f'data: "{encoded}"')
        assert encoded.rstrip("=")[:12] not in scrubbed(f"x {encoded.rstrip('=')} y")


def test_fields_of_documents() -> None:
    token, parts = generated("{alnum20}")
    document = {
        "env": [{"name": "ACME_TOKEN", "value": token}],
        "argv": ["mysql", "-uroot", f"-p{token}"],
        "headers": {"X-Api-Key": token, "Authorization": f"Bearer {token}"},
        "dbPassword": token,
        "apiKeys": [token, {"n": 1}, 5],
    }
    assert leaks(json.dumps(Scrubber(LocalIdentity()).document(document)), parts) == []


KEPT = (
    "b_ptrs_offset_block_size_k_128_stage_3_x = 1; fw_kernel_block_128_stage_3_pipelined_v2",
    "test_dot_operand_conversion_128x64x32_fp16_acc, re_quantize_block_128x128_fp8e4nv_scaled",
    "test_MatmulKernelPersistentTMA128x256x64 and live_range_split_pass_12_of_the_allocator",
    "triton_poi_fused_add_mul_0d1d2d3d4d5d6c7c8d9c10d11c; co_routine_name_with_128_things_in_it",
    "HIP_API_ID_hipTexRefSetAddress2D PFN_cuTexRefSetAddress2D_v3020 cuD3D10CtxCreateOnDevice",
    "_ZN4mlir6triton3gpu12_GLOBAL__N_119ConvertTritonGPUToLLVM4Impl3runEv",
    "cache key: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "kernel_key=3428c10a4fb94c9db788b7acd6b55147b7acd6b5 hash_key: 3428c10a4fb94c9db788b7acd6b55147",
    "\"key_line\": \"Expected dtype ['fp32', 'fp64'] but got bf16\"",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHIJKLMNOPQRST",
    "--hash=sha256:2fc8da60df463fdefa81e323eef2e36489e1c94335b5358bcb38360adf75ac9b",
    "sha256=j1bCGP2oKY1c3rJfwiMA7aRYnYN9OFjv36GWKZ8KVZQ",
    "commit 4ba6a9c9f65bbc8bd06e3652cb20fd4dfc846137: token handling",
    "c4f7a1de-1234-4c9b-8def-0123456789ab 0x9E3779B97F4A7C15",
    "num_valid_tokens=hidden, id_token = tl.load(x), key=['M', 'N'], auth=None, cert=True",
    "password: required; default login shell is bash; login node; using account default",
    "docker run -p 8080:80 x; python -m pytest -p no:cacheprovider; git push -u origin main; zip -r a.zip b",
    "name: token_count\nvalue: 4096; env TRITON_KEY_CACHE 1; --max-tokens 4096",
    "wandb: Tracking run with wandb version 0.16.0; wandb: Syncing run fancy-sun-12",
    "KeyError: 'rope.angles.depth_of__Pi32_i32'",
    "%0 = tt.call @triton.language.standard.sort_impl__fp8e5S64S_cNone_cNone_c0(%x) : tensor<64xf8E5M2>",
    "returns a basic thread_group for now; an issue is identified by where it is; a crash with password protection",
    'TRITON_REDIS_KEY_FORMAT = "triton:{key}:{filename}"',
    "storage_key = name; skip_encoding_cookie: bool = True, skip_encoding_cookie=True, n=1",
    "%12 = arith.addi %3d, %2f : i32",
)
"""Of kernels, IR, builds and logs, next to what resembles a credential."""


@pytest.mark.parametrize("text", KEPT)
def test_what_a_reader_needs_stays(text: str) -> None:
    assert scrubbed(text) == text


@pytest.mark.parametrize(
    "piece",
    one_in(3, [
        "key: ", "cookie: ", "&token=abcd", "curl -u ", "ssh a@", "<password>abcd</", "1.2.3.4 ", "ghp_", "://a:b@",
        "aA1_", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVpBQkNERUZHSElKS0xNTk9QUVJTVFVW\n", "%3A%2F%2F",
        "\u0130token=a1b2c3d4 ",
    ]),
)  # fmt: skip
def test_time_grows_with_a_hostile_text(piece: str) -> None:
    def seconds(size: int) -> float:
        text, began = piece * (size // len(piece)), time.process_time()
        scrubbed(text)
        return time.process_time() - began

    # Four times as much text, ten times the time for the noise of a busy machine: a square would be sixteen. Twice,
    # since another process may take the core's caches meanwhile.
    assert any(seconds(40_000) < 10 * max(seconds(10_000), 0.02) for _ in range(2))


def test_numbers_are_secret_as_passwords_alone() -> None:
    found = Scrubber(LocalIdentity()).document({"password": 12345678, "tokens": 4096, "key": [1, 2], "secret": True})
    assert found == {"password": "<secret>", "tokens": 4096, "key": [1, 2], "secret": True}


def test_every_form_has_its_source() -> None:
    content = table()
    assert all(row["source"] for row in (*content["credential"], *content["command"]))
