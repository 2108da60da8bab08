"""What clients may send: models of parameters, checked and turned into the program's own values."""
