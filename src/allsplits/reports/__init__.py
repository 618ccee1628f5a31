"""One page that answers the question, to show in a meeting or to keep with the data."""

from allsplits.reports._report import Report, report

__all__ = ["Report", "report"]
