"""What is raised where the records, or what a page wants of them, are wrong."""

from __future__ import annotations


class ResultError(Exception):
    """One line for the reader: what is wrong and where."""


class NotRecorded(ResultError):
    """The rung is recorded, but not in this way: no fault of the page."""
