"""Coding agents as programs: what each is called with, what its stream says, and how its processes end."""
