"""Applying: a pure state machine that asks for effects, and the judges of what comes back."""
