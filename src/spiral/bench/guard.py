"""How well the guard tells instructions from ordinary text, and redaction secrets from ordinary text."""
