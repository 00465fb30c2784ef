# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of a Markdown page and compares what they print.

    run_commands.py PAGE SECTION [FROM=TO ...]

SECTION is the part of the page between `<!-- SECTION -->` and the next
`<!-- end -->`. In it, every ```sh block is run by bash in the current folder, each
FROM in it replaced by TO, and the ```mlir or ```text blocks before the next one
are what it prints, shortened. A ```console block holds both: commands after `$ `,
and lines that they print.

A shown line is found in the output after the one before it. `...` stands for
anything, in a line or as a line. In `mlir` blocks values may have other names,
as long as one name is one value; in `text` and `console` blocks numbers may differ.
A block whose fence says `example` is not compared.
"""

import re
import subprocess
import sys

FENCE = re.compile(r"^```(\w*)(.*)$")
VALUE = re.compile(r"%\w+")
NUMBER = re.compile(r"(?<![\w%])\d[\d.]*(?:e[-+]?\d+)?(?!\w)")


def read_blocks(text, section):
    """(language, rest of the fence, lines) of every fenced block of a section."""
    begin = text.find(f"<!-- {section} -->")
    end = text.find("<!-- end -->", begin)
    if begin < 0 or end < 0:
        sys.exit(f"expected a section '{section}' (<!-- {section} --> … <!-- end -->)")
    lines = iter(text[begin:end].splitlines())
    for line in lines:
        if fence := FENCE.match(line):
            block = []
            for line in lines:
                if line == "```":
                    break
                block.append(line)
            yield fence[1], fence[2], block


def read_steps(blocks):
    """(command, language, shown lines) of every command."""
    step = None
    for language, rest, lines in blocks:
        if language == "sh":
            if step:
                yield step
            step = ("\n".join(lines), "", [])
        elif language == "console":
            if step:
                yield step
            step = None
            for line in lines:
                if line.startswith("$ "):
                    if step:
                        yield step
                    step = (line[2:], language, [])
                elif step:
                    step[2].append(line)
        elif step and language in ("mlir", "text") and "example" not in rest:
            step = (step[0], language, step[2] + lines)
    if step:
        yield step


def line_pattern(shown, language):
    """A regular expression for a shown line; values are groups, in order."""
    token = VALUE if language == "mlir" else NUMBER
    pattern, position = "", 0
    parts = re.compile(rf"\.\.\.|\s+|{token.pattern}")
    for match in parts.finditer(shown):
        pattern += re.escape(shown[position : match.start()])
        position = match.end()
        if match[0] == "...":
            pattern += r".*?"
        elif match[0].isspace():
            pattern += r"\s+"
        else:
            pattern += r"(%\w+)" if language == "mlir" else r"[-\d.e+]+"
    return re.compile(pattern + re.escape(shown[position:]))


def missing_line(shown_lines, output, language):
    """The first shown line that the output does not have in its place, or None."""
    actual = iter(line.strip() for line in output.splitlines())
    names = {}
    for shown in (line.strip() for line in shown_lines):
        if not shown or shown == "...":
            continue
        pattern = line_pattern(shown, language)
        values = VALUE.findall(shown) if language == "mlir" else []
        for line in actual:
            match = pattern.fullmatch(line)
            if match and all(
                names.get(name, value) == value
                for name, value in zip(values, match.groups())
            ):
                names.update(zip(values, match.groups()))
                break
        else:
            return shown
    return None


def main():
    page, section, *replacements = sys.argv[1:]
    table = dict(replacement.split("=", 1) for replacement in replacements)
    with open(page, encoding="utf-8") as file:
        steps = list(read_steps(read_blocks(file.read(), section)))
    if not steps:
        sys.exit(f"expected commands in the section '{section}' of {page}")
    for command, language, shown in steps:
        changed = command
        # All at once: what one puts in may hold what another looks for.
        changed = re.sub(
            "|".join(re.escape(old) for old in table) or "(?!)",
            lambda match: table[match.group()],
            changed,
        )
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", changed], capture_output=True, text=True
        )
        if result.returncode != 0:
            sys.exit(f"this failed:\n{changed}\n{result.stdout}{result.stderr}")
        missing = missing_line(shown, result.stdout, language)
        if missing is not None:
            sys.exit(
                f"expected {page} to show what this prints:\n{command}\n"
                f"but there is no line like this, after those before it:\n{missing}\n"
                f"it prints:\n{result.stdout}"
            )
        print(f"ok: {command}")


if __name__ == "__main__":
    main()
