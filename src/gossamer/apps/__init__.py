"""Applications that are shipped: each is one of `gossamer.Application`, and off unless it is asked for."""
