"""Pages of the programming interfaces, from the comments in the headers that are installed: Doxygen reads them, and this turns what
it found into Markdown. The page of Python is mkdocstrings'.

For a new header, add a line to PAGES.
"""

import html
import pathlib
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as xml

TOP = pathlib.Path(__file__).resolve().parent.parent
API = "src/accel/c_library/api"
# {name of the page: (title, language, {name that programs use: source})}
PAGES = {
    "c": ("The library for decomposed arrays in C", "c", {
        f"slabmark/{name}": f"{API}/{name}" for name in ("rearrange.h", "rearrange_pnetcdf.h", "rearrange_hdf5.h", "rearrange_format.h")}),
    "fortran": ("The library for decomposed arrays in Fortran", "fortran", {
        f"slabmark_rearrange{part}.f90": f"{API}/slabmark_rearrange{part}.f90" for part in ("", "_pnetcdf", "_hdf5")}),
    "connector": ("The HDF5 connector in C", "c", {"slabmark/slablog.h": "src/accel/hdf5_connector/api/slablog.h"}),
    "slices": ("Strided slices in C++", "cpp", {
        **{f"slice/{name}.hpp": f"src/accel/slices/{name}.hpp" for name in ("output", "device", "gather")},
        "pattern/blocked_field.hpp": "src/core/geometry/blocked_field.hpp"}),
    "fill-functions": ("Fill functions of seism-core-slice in C", "c", {"slabmark/fill_function.h": "plugins/fill_function.h"}),
}
PYTHON = """# Pattern files in Python

::: slabmark.pattern
"""
# Every public name must have a comment, so a warning of Doxygen is an error.
SETTINGS = """
QUIET = YES
WARN_AS_ERROR = FAIL_ON_WARNINGS
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
JAVADOC_AUTOBRIEF = YES
EXTRACT_STATIC = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = __attribute__(x)= inline=
"""


class Failed(Exception):
    pass


def read(sources):
    """{source: (description, [(line, name, declaration, description, rows of a table)])} as Doxygen understands these files."""
    with tempfile.TemporaryDirectory() as folder:
        settings = f"{SETTINGS}\nINPUT = {' '.join(sources)}\nOUTPUT_DIRECTORY = {folder}\n"
        done = subprocess.run(["doxygen", "-"], input=settings, cwd=TOP, capture_output=True, text=True)
        if done.returncode:
            raise Failed(done.stderr.strip())
        compounds = [xml.parse(path).getroot().find("compounddef") for path in sorted(pathlib.Path(folder, "xml").glob("*.xml")) if path.stem not in ("index", "Doxyfile")]
    found = {source: ("", []) for source in sources}
    for compound in compounds:
        place = compound.find("location")
        source = None if place is None else place.get("file")
        kind, name = compound.get("kind"), compound.findtext("compoundname").rsplit("::", 1)[-1]
        members = [member for member in compound.iter("memberdef") if member.get("prot") == "public" and member.find("location").get("file") in found]
        if kind in ("file", "namespace"):
            if source in found and text(compound):
                found[source] = text(compound), found[source][1]
            for member in members:
                if (member.findtext("definition") or "").startswith(("typedef enum", "typedef struct")):
                    continue  # the type itself is there
                found[member.find("location").get("file")][1].append(entry(member))
        elif kind == "interface" and not name.startswith("c_"):  # of Fortran: several procedures by one name
            found[source][1].append((int(place.get("line")), name, "", text(compound), []))
        elif kind in ("struct", "class") and source in found:
            rows = [entry(member) for member in members if text(member)]
            rows = [(declaration or name, said) for _, name, declaration, said, _ in sorted(rows)]
            found[source][1].append((int(place.get("line")), name, f"{kind} {name}", text(compound), rows))
    return found


def entry(member):
    kind, name = member.get("kind"), member.findtext("name")
    line = int(member.find("location").get("line"))
    declaration = tidy((member.findtext("definition") or "") + (member.findtext("argsstring") or ""), name)
    rows = []
    if kind == "enum":
        rows = [(value.findtext("name"), text(value).rstrip(".")) for value in member.iter("enumvalue")]
        declaration = f"enum {name}" if not name.startswith("@") else ""
        name = name if declaration else text(member).rstrip(".")
    elif kind == "define":
        declaration = f"#define {name} {member.findtext('initializer') or ''}".rstrip()
    elif member.findtext("initializer") and "parameter" in declaration:
        declaration += f" {member.findtext('initializer')}"
    return line, name, declaration, text(member), rows


def tidy(declaration, name):
    """Without the names of modules and namespaces, and with pointers as we write them."""
    declaration = re.sub(rf"(?:\w+::)+(?=~?{re.escape(name.lstrip('~'))}\b)", "", declaration)
    declaration = re.sub(r" ([*&]+) ?(?=\w)", r"\1 ", re.sub(r"\b(?:slabmark|slice)::", "", declaration))
    declaration = re.sub(r"<\s+|\s+>", lambda match: match[0].strip(), declaration)
    return declaration.replace(", public", "").replace(" (", "(").replace("= typedef ", "= ")


def text(element):
    """The description as Markdown: the brief one, and the paragraphs of the detailed one."""
    blocks = []
    for part in ("briefdescription", "detaileddescription"):
        for paragraph in element.findall(f"{part}/para"):
            blocks += paragraph_blocks(paragraph)
    return "\n\n".join(blocks)


def paragraph_blocks(paragraph):
    blocks, words = [], [paragraph.text or ""]
    for child in paragraph:
        if child.tag == "itemizedlist":
            blocks += ["".join(words).strip(), "\n".join(f"- {' '.join(paragraph_blocks(item))}" for item in child.findall("listitem/para"))]
            words = []
        elif child.tag in ("verbatim", "programlisting", "preformatted"):
            blocks += ["".join(words).strip(), "\n".join(f"    {line}" for line in "".join(child.itertext()).strip("\n").splitlines())]
            words = []
        else:
            inner = "".join(child.itertext())
            is_code = child.tag == "computeroutput" or (child.tag == "ref" and "_" in inner)
            words.append(f"`{inner}`" if is_code else inner)
        words.append(child.tail or "")
    return [block for block in [*blocks, "".join(words).strip()] if block]


def cell(said):
    return html.escape(" ".join(said.split()), quote=False).replace("|", "&#124;")


def page(name):
    title, language, sources = PAGES[name]
    lines = [f"# {title}", ""]
    if not shutil.which("doxygen"):
        headers = ", ".join(f"`{source}`" for source in sources.values())
        return "\n".join([*lines, f"Doxygen makes this page, and was not installed. The same text stands in {headers}.", ""])
    found = read(sources.values())
    for public, source in sources.items():
        about, entries = found[source]
        lines += [f"## {public}", "", linked(about), ""]
        constants = sorted(one for one in entries if "parameter" in one[2])
        if constants:
            lines += table("constant", [(declaration.rsplit("parameter", 1)[1].strip(), said.rstrip(".")) for _, _, declaration, said, _ in constants])
        for _, title, declaration, said, rows in sorted(one for one in entries if one not in constants):
            lines += [f"### {title}", ""]
            lines += [f"```{language}", declaration, "```", ""] if declaration else []
            lines += [linked(said), ""] if said.rstrip(".") != title else []
            lines += table("name", rows) if rows else []
    return "\n".join(lines)


def table(first, rows):
    return [f"| {first} | meaning |", "| --- | --- |", *(f"| `{names}` | {cell(meaning)} |" for names, meaning in rows), ""]


def linked(said):
    return re.sub(r"docs/reference/([\w-]+)\.md", r"[\1](../\1.md)", said)
