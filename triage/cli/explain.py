"""``triage explain``: one subcommand a rule, made from the rule's own parameters."""

import difflib
import importlib
from typing import Any

import click

from triage.cli.options import print_json
from triage.legality import rules
from triage.legality.rule import LegalityRule, RuleParameter, Syntax
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import explanation as render_explain

_METAVAR = {
    Syntax.INTEGER: "N",
    Syntax.DTYPE: "TYPE",
    Syntax.SHAPE: "AxB",
    Syntax.TARGET: "cuda:90|hip:gfx942",
    Syntax.RELEASE: "VERSION",
    Syntax.LAYOUT: "SHAPE:STRIDE",
}


_COST, _COST_TITLE = "cost", "the time of a kernel by the static model, term by term"


class _Rules(click.Group):
    """Knows the rules by name and title; builds the command of the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*rules.names(), _COST]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == _COST:
            return importlib.import_module("triage.cli.explain_cost").command  # type: ignore[no-any-return]
        if cmd_name not in rules.names():
            close = difflib.get_close_matches(cmd_name, rules.names(), 1)
            hint = f"did you mean {close[0]}? The" if close else "the"
            ctx.fail(f"no rule {cmd_name!r}; {hint} rules are {', '.join(rules.names())}.")
        return _command(rules.rule(cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Rules"):
            formatter.write_dl([(name, rules.rule(name).title) for name in rules.names()])
        with formatter.section("Cases"):
            formatter.write_dl([(f"{_COST} CASE", _COST_TITLE)])


@click.command(
    "explain", cls=_Rules, invoke_without_command=True, subcommand_metavar="RULE [NUMBERS]...", no_args_is_help=False
)
@click.option("--json", "as_json", is_flag=True, help="List the rules as a document.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> int | None:
    """Say what a hardware or language rule allows for given numbers, and why.

    Without numbers the rule's table is printed. Compiles nothing, and needs no Triton, except for `cost`.
    """
    if context.invoked_subcommand is not None:
        context.obj = as_json
        return None
    if as_json:
        print_json({"rules": [_described(rules.rule(name)) for name in rules.names()]})
    else:
        render_explain.rules(console.output(), [rules.rule(name) for name in rules.names()])
    return 0


def _command(rule: LegalityRule) -> click.Command:
    @click.pass_context
    def run(context: click.Context, /, as_json: bool, **texts: Any) -> int:
        explanation = rule.answer(texts)
        if as_json or context.obj:
            print_json(explanation.to_json())
        else:
            render_explain.explanation(console.output(), explanation)
        return 0

    title = f"{rule.title[:1].upper()}{rule.title[1:]}."
    examples = "\n".join(f"  triage explain {rule.name} {example}" for example in rule.examples)
    shared = click.Option(
        ["--json", "as_json"], is_flag=True, help="Print the explanation as a document, and nothing else."
    )
    return click.Command(
        rule.name,
        params=[*map(_option, rule.parameters), shared],
        callback=run,
        help=f"{title}\n\nWithout numbers the rule's table is printed.\n\n\b\nExamples:\n{examples}",
    )


def _option(parameter: RuleParameter) -> click.Option:
    text = parameter.help
    if parameter.default is not None:
        text += f" [{parameter.default}]"
    if parameter.syntax is Syntax.FLAG:
        return click.Option([f"--{parameter.name}", parameter.key], is_flag=True, help=text)
    metavar = "|".join(parameter.choices) if parameter.syntax is Syntax.CHOICE else _METAVAR[parameter.syntax]
    return click.Option([f"--{parameter.name}", parameter.key], metavar=metavar, help=text)


def _described(rule: LegalityRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "title": rule.title,
        "parameters": [
            {
                "name": parameter.name,
                "form": parameter.syntax.value,
                "help": parameter.help,
                "choices": list(parameter.choices),
                "default": parameter.default,
            }
            for parameter in rule.parameters
        ],
        "examples": [f"triage explain {rule.name} {example}" for example in rule.examples],
    }
