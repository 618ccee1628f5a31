"""``python -m allsplits.cli`` is the `allsplits` command."""

from allsplits.cli import main

main()
