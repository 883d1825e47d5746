"""Ways in, thin."""
