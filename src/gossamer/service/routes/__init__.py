"""What is answered, by subject."""
