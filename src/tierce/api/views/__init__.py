"""What clients read: pure functions from rows to documents."""
