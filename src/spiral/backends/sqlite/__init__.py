"""The index in one SQLite file, with vectors beside it."""
