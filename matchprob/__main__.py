"""``python -m matchprob`` is the command line."""

from matchprob.cli import main

main()
