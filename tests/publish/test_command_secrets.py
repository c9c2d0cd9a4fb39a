"""Credentials on command lines, whatever a command begins behind and however its line is written."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import pytest
from rows import one_in
from test_credentials import generated, leaks, scrubbed

COMMANDS = """\
docker login -u jane -p {alnum12} x.example
docker login -ujane -p{alnum12}
docker --config /x login -u jane -p {alnum12} x.example
podman login -u jane --password={alnum12} x.example
crane auth login x.example -u jane -p {alnum12}
oc login https://x.example -u jane -p {alnum12}
helm registry login x.example -u jane -p {alnum12}
helm repo add x https://x.example --username jane --password {alnum12}
skopeo copy --src-creds jane:{alnum12} docker://a docker://b
ctr images pull --user jane:{alnum12} x.example/a
az login --service-principal -u x -p {alnum12} --tenant y
aws configure set aws_secret_access_key {base40}
gh secret set ACME --body {alnum20}
gh secret set ACME -b{alnum20}
curl -u jane:{alnum12} https://x.example
curl -ujane:{alnum12} https://x.example
curl -sSLu jane:{alnum12} https://x.example
curl --proxy-user jane:{alnum12} https://x.example
wget --http-user=jane --http-password={alnum12} https://x.example
lftp -u jane,{alnum12} x.example
mysql -uroot -p{alnum12} prod
sshpass -p {alnum12} make x
redis-cli -h cache -a {alnum12} ping
mongosh -u jane -p {alnum12}
sqlcmd -S db -U sa -P {alnum12}
ldapsearch -D cn=x -w {alnum12}
snmpwalk -v3 -A {alnum12} -X {alnum12} x
ssh-keygen -t rsa -N {alnum12} -f x
useradd -p {alnum12} jane
zip -P {alnum12} a.zip b
gpg --batch --passphrase {alnum12} -d a
uv publish -u jane -p {alnum20}
xfreerdp /u:jane /p:{alnum12} /v:x
htpasswd -cb file jane {alnum12}
rabbitmqctl add_user jane {alnum12}
poetry config http-basic.x jane {alnum12}
mc alias set x https://x.example {alnum20} {alnum40}
wandb login --relogin {hex40}
nmcli dev wifi connect net password {alnum12}""".splitlines()

PIPES = """\
echo {alnum20} | docker login -u jane --password-stdin
printf '{alnum20}' | gh auth login --with-token
echo jane:{alnum12} | chpasswd
echo {alnum12} | sudo -S ls
kinit jane <<< {alnum12}
psql "host=db user=jane password={alnum12}"
psql postgres://jane:{alnum12}@db.example/prod
restic -r x --password-command "echo {alnum12}\"""".splitlines()
"""More than one command, or with quotation marks."""

PREFIXES = (
    "", "+", "-", "$ ", "> ", "++ ", "'", '"', "`", "(", "[", "{", "<", "<code>", "$(", "=", ":", ",", ";", "|", "&&",
    "!", "%", "@", "~", "*", "^", "#", "…", "\u201c", "\xa0", "\t", r"\n", r"\t", r"\"", r"\u2014", r"\xa0", r"\x1b[0m",
    "\x1b[1m", "&quot;", "/usr/bin/", "./", "_x = '+", '{"cmd": "', "f'", "@@ ", "sudo ", "> > ", "E   ", "%20",
)  # fmt: skip

LAYOUTS: dict[str, Callable[[str], str]] = {
    "a list": lambda line: repr(shlex.split(line)),
    "a list as JSON": lambda line: f'{{"argv": {json.dumps(shlex.split(line))}}}',
    "a call with a list": lambda line: f"    subprocess.run({shlex.split(line)}, check=True)",
    "a list over several lines": lambda line: ",\n    ".join(map(repr, shlex.split(line))),
    "a line that goes on": lambda line: line.replace(" ", " \\\n    "),
    "a comment that goes on": lambda line: "# " + line.replace(" ", " \\\n#   "),
    "a literal that goes on": lambda line: repr(line.replace(" ", " \\\n  ")),
    "HTML": lambda line: f"<code>{line}</code>",
    "a diff of a literal": lambda line: f"+_x = {f'+{line}'!r}",
}


@pytest.mark.parametrize("form", one_in(3, (*COMMANDS, *PIPES)))
def test_a_command_begins_behind_anything_but_a_letter(form: str) -> None:
    for number, prefix in enumerate(PREFIXES):
        line, parts = generated(form, number)
        for text in (f"{prefix}{line}", f"x {prefix}{line} && ls"):
            assert leaks(scrubbed(text), parts) == [], text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_command_in_a_layout(layout: str) -> None:
    for form in COMMANDS:
        line, parts = generated(form)
        text = LAYOUTS[layout](line)
        assert leaks(scrubbed(text), parts) == [], text


@pytest.mark.parametrize(
    "text",
    [
        "docker run -p 8080:80 -u 1000:1000 x && zip -rq a.zip b",
        "['ptxas', '-p', 'kernel', '--gpu-name', 'sm_90a', '-v', 'a.ptx', '-o', 'a.cubin']",
        "nvcc -arch=sm_90 \\\n    -Xptxas -v \\\n    -o a.out a.cu",
        "key=['M', 'N'], tokens=['num_tokens', 'block'], password='', echo $PASSWORD | docker login --password-stdin",
        "the password protection of kernel_dot_128x64x32_fp16 and password managers",
        "echo 'hello world' | tee log; make <<< input",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert scrubbed(text) == text
