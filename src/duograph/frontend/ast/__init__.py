"""The source driver: interprets functions from their syntax trees."""
