"""The memory in ten lines: no server, no key."""

from spiral import Memory

memory = Memory.open()
memory.remember(
    "Retries go through outbox.py; never call Stripe inline.", app="shop", kind="semantic", key="payments/retries"
)
hits = memory.recall("how do we retry webhooks?", app="shop", agent="coder", budget=1_500)
for hit in hits:
    print(f"{hit.score:.2f} {hit.text}")
memory.close()
