"""The one exception that becomes one line for the user."""


class InputError(Exception):
    """Bad input: a file, folder or option. The message names the place (path:line where there is one)."""
