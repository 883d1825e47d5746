"""One task at a time: the stages of a pass and the driver that repeats them."""
