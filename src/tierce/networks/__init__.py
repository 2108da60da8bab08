"""Networks: how containers are wired. `bridge` uses Docker's own networks, for one machine."""
