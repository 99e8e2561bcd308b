"""The strategies that are shipped; breadth-first needs none."""
