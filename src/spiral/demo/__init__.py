"""A simulated agent, and a small project for it to fail and succeed at."""
