"""Who holds how much of which node."""
