"""What all pages share: one file that loads nothing, its style, and how numbers are written in it."""

import datetime
import importlib.resources

import jinja2

import slabmark
from slabmark import units


def read(name):
    """A file of this package as text."""
    return importlib.resources.files("slabmark").joinpath(name).read_text()


def render(template, styles=(), **values):
    """A page as text, of a template that extends report/layout.html.j2. `styles`: files beside the one of all pages."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("slabmark", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    shown = (units.seconds, units.size, units.rate, units.percent, units.three_digits)
    environment.filters |= {function.__name__: function for function in shown}
    return environment.get_template(template).render(
        css="".join(map(read, ("report/page.css", *styles))),
        version=slabmark.__version__,
        made=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **values,
    )
