"""Retrieval: what is done with the arms' answers; pure functions over plain records."""
