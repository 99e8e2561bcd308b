"""A crawl asked over HTTP: search, stored pages, what the crawl does. The only folder that imports fastapi."""
