"""Pages from the web: fetched within limits, and only from addresses that everybody could reach."""
