"""One store: remember, recall, rank, brief, guard."""
