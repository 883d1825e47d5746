"""`python -m spiral` is the command `spiral`."""

from spiral.surfaces.cli.main import main

main()
