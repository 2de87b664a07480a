"""Rows to Arrow to Parquet: columns, frames, the store, quality rules and exports."""
