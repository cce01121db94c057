"""Reports: the same facts as text for people and as JSON for programs."""
