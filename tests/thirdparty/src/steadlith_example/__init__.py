"""A store and an embedder for Steadlith, as somebody else would write them: small, whole, and certified by the kit."""
