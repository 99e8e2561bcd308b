"""What a crawl has found, as tables: for the terminal, as JSON and as a page that stands alone; and exports."""
