"""Benchmarks and load: numbers measured side by side in one run."""
