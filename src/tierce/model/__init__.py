"""Pure vocabulary of the service: no I/O, no clock of its own, no framework."""
