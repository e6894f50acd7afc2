"""Runs as tables for counting and plotting, written as CSV or Parquet."""
