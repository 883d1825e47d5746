"""How well it does, measured."""
