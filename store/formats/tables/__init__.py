"""Writers for runs as tables for counting and plotting, as CSV or Parquet."""
