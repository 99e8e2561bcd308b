"""Trials of a crawl with several agents: the network, the brokers and agents on it, the faults, and the judge."""
