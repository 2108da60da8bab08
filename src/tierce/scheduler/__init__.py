"""Which node takes a container."""
