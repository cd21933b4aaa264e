"""The one exception that speaks to the user."""


class XmlcError(Exception):
    """Something the user can mend: the message says what was found, what was expected and what to do.

    The command line prints the message alone, without a traceback, and exits with status 1.
    """
