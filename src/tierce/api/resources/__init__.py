"""One module per REST resource: read the parameters, ask control, show the answer."""
