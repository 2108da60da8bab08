"""What happens to every request before its resource sees it, one concern a module."""
