"""Our revisions of the schema, counted in a version table of our own."""
