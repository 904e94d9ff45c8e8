"""Where documents and their fingerprints are kept. Every store passes ``lookalike.testing.StoreContract``."""
