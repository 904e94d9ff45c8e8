"""Which documents lead: the one rule behind dedupe and clusters."""
