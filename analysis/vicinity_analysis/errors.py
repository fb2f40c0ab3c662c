"""The one exception that becomes one line for the user, and how foreign text is shown."""

import re

# What moves the cursor, colours, ends the line or turns the direction of writing; halves of characters too.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class InputError(Exception):
    """Bad input: a file, folder or option. The message names the place (path:line where there is one)."""


def printable(text: object) -> str:
    """In one line, with control characters as their escapes: a file's text must not act on a terminal."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))
