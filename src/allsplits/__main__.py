"""``python -m allsplits`` is the `allsplits` command."""

from allsplits.cli import main

main()
