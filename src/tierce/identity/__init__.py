"""Who asks: plugs that turn a request's headers into a caller."""
