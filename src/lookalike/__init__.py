"""How alike two things are and why."""
