"""What answers the routes, by subject."""
