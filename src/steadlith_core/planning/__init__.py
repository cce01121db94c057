"""Planning: a pure function of what is recorded, what is wanted and what is already paid for."""
