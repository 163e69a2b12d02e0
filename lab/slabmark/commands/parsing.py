"""Command lines by click, as the lab has them: one sentence says what is wrong, help has groups of options, retired names go on
working, and each command describes itself for manuals and completions. It imports nothing slow, so that help is quick."""

import importlib
import re
import sys
import types

import click

from slabmark import surroundings
from slabmark.errors import InputError, did_you_mean

PRINT = "-"  # the value of --json that stands for standard output
UNBROKEN = "\N{NON-BREAKING HYPHEN}"  # while lines of help are filled, which click breaks at hyphens


class Kind(click.ParamType):
    """Values that `make` makes of a text, or raises a ValueError. `what` is such as "a whole number"."""

    def __init__(self, what, make):
        self.name, self.make = what, make

    def convert(self, value, param, ctx):
        try:
            return self.make(value)
        except ValueError:
            raise InputError(f'{param.label} is "{value}"; give {self.name}.') from None


class Choice(click.ParamType):
    name = "choice"

    def __init__(self, choices):
        self.choices = tuple(choices)

    def convert(self, value, param, ctx):
        if value not in self.choices:
            raise InputError(f'{param.label} is "{value}".{did_you_mean(value, self.choices)}')
        return value


class Choices(Choice):
    """Some of them, separated by commas; `none` stands for an empty list."""

    def __init__(self, choices, none):
        super().__init__((*choices, none))
        self.none = none

    def convert(self, value, param, ctx):
        if value == self.none:
            return []
        return [super(Choices, self).convert(part, param, ctx) for part in value.split(",")]


def whole(low, high):
    def make(text):
        if not re.fullmatch("[+-]?[0-9]+", text) or not low <= int(text) <= high:
            raise ValueError
        return int(text)

    return Kind(f"a whole number from {low} to {high}", make)


def number(low, high):
    def make(text):
        if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) or not low <= float(text) <= high:
            raise ValueError
        return float(text)

    return Kind(f"a number from {low:g} to {high:g}", make)


class Option(click.Option):
    """With a value, unless it is a Flag. `retired`: earlier names, which work for one release; `bare`: the value of an option
    that had none until then, where it is given without one; `implied`: the value where it is given without one, which is allowed:
    a value stands behind an equals sign then."""

    def __init__(self, names, metavar, help, kind=click.STRING, *, into=(), group="", retired=(), bare=None, implied=None, **more):
        self.shown_default = "" if more.get("is_flag") else more.get("default", "")
        super().__init__([*names.split(", "), *into], metavar=metavar, help=help, type=kind, **more)
        self.group, self.retired, self.bare, self.implied, self.label = group, retired, bare, implied, "/".join(self.opts)

    def get_help_record(self, ctx):
        text = f"{self.help} (default {self.shown_default})" if self.shown_default else self.help
        names = ", ".join(self.opts)
        return f"{names}[={self.metavar}]" if self.implied else f"{names} {self.metavar or ''}".rstrip(), text

    def describe(self):
        return {
            "names": self.opts,
            "value": self.metavar or "",
            "choices": list(getattr(self.type, "choices", ())),
            "default": self.shown_default,
            "required": self.required,
            "repeated": self.multiple,
            "group": self.group,
            "help": self.help,
        }


class Flag(Option):
    def __init__(self, names, help, **more):
        super().__init__(names, None, help, click.BOOL, is_flag=True, default=False, **more)


class Ending(Flag):
    """Prints `answer(context)`, and the command ends."""

    def __init__(self, names, help, answer, **more):
        def callback(ctx, param, is_asked):
            if is_asked:
                click.echo(answer(ctx))
                ctx.exit()

        super().__init__(names, help, is_eager=True, expose_value=False, callback=callback, **more)


def help_option():
    return Ending("-h, --help", "Print this help message and exit", lambda ctx: ctx.get_help())


class Argument(click.Argument):
    def __init__(self, name, metavar, help, kind=click.STRING, *, repeated=False, **more):
        super().__init__([name], metavar=metavar, type=kind, nargs=-1 if repeated else 1, **more)
        self.text, self.label = help, metavar

    def describe(self):
        return {"name": self.metavar, "required": self.required, "repeated": self.nargs < 0, "help": self.text}

    def get_usage_pieces(self, ctx):
        name = f"{self.metavar}{' ...' if self.nargs < 0 else ''}"
        return [name if self.required else f"[{name}]"]

    def get_help_record(self, ctx):
        return self.metavar, self.text


class TrailingCommand(Argument):
    """A command of the user with all of its words, last; `--` may stand before it."""

    def __init__(self, help, **more):
        super().__init__("command", "COMMAND", help, click.UNPROCESSED, repeated=True, **more)

    def get_usage_pieces(self, ctx):
        return ["-- COMMAND ..." if self.required else "[-- COMMAND ...]"]


class _Words:
    """Reads the words of a command line before click does: click takes an option for the value of the one before it."""

    def parse_args(self, ctx, args):
        words = list(self._words(ctx, list(args)))
        try:
            rest = super().parse_args(ctx, words)
        except click.MissingParameter as missing:
            raise InputError(f"{missing.param.label} is missing. {_see(ctx)}.") from None
        if ctx.args and not isinstance(self, click.Group):
            raise InputError(f"'{ctx.args[0]}' is not expected. {_see(ctx)}.")
        return rest

    def _words(self, ctx, rest):
        """The same with the names of today, and values behind the longest name of their option."""
        options = {name: option for option in self.params if isinstance(option, Option) for name in option.opts}
        retired = {name: option for option in self.params if isinstance(option, Option) for name in option.retired}
        told = set()
        while rest:
            word = rest.pop(0)
            if word == "--" or not (_is_dashed(word) or ctx.allow_interspersed_args):
                yield from (word, *rest)
                return
            if not _is_dashed(word):
                yield word
                continue
            name, value = _split(word)
            option = options.get(name) or retired.get(name)
            if option is None:
                near = did_you_mean(name, [known for known in options if not options[known].hidden and len(known) > 2], f" {_see(ctx)}.")
                raise InputError(f"'{name}' is not an option of {ctx.command_path}.{near}")
            if name not in options:
                _tell_once(told, ctx, name, next(new for new in option.opts if new.startswith("--") or len(name) == 2))
            if option.is_flag:
                if value is not None:
                    raise InputError(f"{option.opts[-1]} has no value; leave out '{value}'.")
                yield option.opts[-1]
                continue
            if value is None and option.implied:
                value = option.implied
            elif value is None and rest and not _is_dashed(rest[0]):
                value = rest.pop(0)
            elif value is None and option.bare:
                value = option.bare
                _tell_once(told, ctx, name, f"{name} {value}")
            if not value:
                raise InputError(f"{option.label} is given without a value; give it one, or leave it out.")
            yield f"{max(option.opts, key=len)}={value}"

    def get_help(self, ctx):
        return super().get_help(ctx).replace(UNBROKEN, "-")

    def format_help_text(self, ctx, formatter):
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text(self.help.replace("-", UNBROKEN))

    def format_options(self, ctx, formatter):
        """With a heading for each group, and arguments first."""
        sections = {"Arguments": []}
        for one in self.params:
            heading = "Arguments" if isinstance(one, Argument) else f"Options {one.group}".strip()
            if isinstance(one, Argument) or not one.hidden:
                names, text = one.get_help_record(ctx)
                sections.setdefault(heading, []).append((names, text.replace("-", UNBROKEN)))
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def describe(self, ctx):
        """What manuals, completions and the reference of the documentation are made of."""
        return {
            "name": ctx.command_path,
            "about": " ".join((self.help or "").split()),
            "summary": self.short_help or "",
            "usage": f"{ctx.command_path} {' '.join(self.collect_usage_pieces(ctx))}",
            "arguments": [one.describe() for one in self.params if isinstance(one, Argument)],
            "options": [one.describe() for one in self.params if isinstance(one, Option) and not one.hidden],
            "commands": [command.describe(click.Context(command, info_name=command.name, parent=ctx)) for command in self.below()],
        }

    def below(self):
        return []


def _is_dashed(word):
    """Whether it is an option: a dash alone is the name of a stream, and a number may be negative."""
    return len(word) > 1 and word[0] == "-" and not re.match("-[.0-9]", word)


def _split(word):
    """(name, value or None) of --name=value, -nvalue or -n=value."""
    name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], len(word) > 2, word[2:].removeprefix("="))
    return name, value if equals else None


def _tell_once(told, ctx, old, new):
    if old not in told:
        print(f"{ctx.command_path}: {old} is now {new}.", file=sys.stderr)
        told.add(old)


def _see(ctx):
    return f"See '{ctx.command_path} --help'"


class Command(_Words, click.Command):
    """Runs the function of a module, `run` such as "slabmark.compare:main", which is not loaded before."""

    def __init__(self, name, run, summary, about, parameters):
        self.takes_command = any(isinstance(parameter, TrailingCommand) for parameter in parameters)
        settings = {"allow_extra_args": True, "allow_interspersed_args": not self.takes_command}
        super().__init__(name, params=[*parameters, help_option()], help=about, short_help=summary, context_settings=settings,
                         add_help_option=False)
        self.run = run

    def given(self, words):
        """The values of all options and arguments by their names."""
        with self.make_context(f"slabmark {self.name}", list(words)) as context:
            return types.SimpleNamespace(**context.params)

    def invoke(self, ctx):
        from slabmark.terminal import Terminal  # which takes a while, and help needs none

        surroundings.check_folder()
        module, _, function = self.run.partition(":")
        with surroundings.as_matplotlib_needs():
            run = getattr(importlib.import_module(module), function)
        # Into a file or a log, tables take the width they need.
        return run(types.SimpleNamespace(**ctx.params), Terminal(width=None if sys.stdout.isatty() else 150))


class Group(_Words, click.Group):
    """`commands`: names, each of a module of slabmark.commands with a COMMAND, or commands."""

    def __init__(self, name, summary, about, commands, parameters=(), metavar="COMMAND"):
        super().__init__(name, params=[*parameters, help_option()], help=about, short_help=summary, add_help_option=False,
                         no_args_is_help=False, subcommand_metavar=metavar)
        self.known = {command if isinstance(command, str) else command.name: command for command in commands}

    def below(self):
        return [self.get_command(None, name) for name in self.known]

    def list_commands(self, ctx):
        return list(self.known)

    def get_command(self, ctx, name):
        command = self.known.get(name)
        return importlib.import_module(f"slabmark.commands.{name}").COMMAND if isinstance(command, str) else command

    def resolve_command(self, ctx, args):
        if args[0] not in self.known:
            raise InputError(f"'{args[0]}' is no command of {ctx.command_path}.{did_you_mean(args[0], self.known)}")
        return args[0], self.get_command(ctx, args[0]), args[1:]

    def parse_args(self, ctx, args):
        rest = super().parse_args(ctx, args)
        if not args:
            raise InputError(f"{self.subcommand_metavar} is missing. {_see(ctx)}.")
        return rest

    def collect_usage_pieces(self, ctx):
        return ["[OPTIONS]", self.subcommand_metavar, "..."]
