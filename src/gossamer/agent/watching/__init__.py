"""Standing queries of a crawl: kept, matched against pages as they are indexed, and told to webhooks."""
