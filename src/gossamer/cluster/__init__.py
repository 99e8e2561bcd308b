"""What several agents need to share a crawl: an engine, a log of URLs, leases, a plan, checkpoints."""
