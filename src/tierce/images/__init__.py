"""Images: the grammar of their names, and the drivers that bring them to a node."""
