"""Benchmarks' own environments: their phones, their tasks and their scores, behind `lab.core.seams.Environment`."""
