"""Environments of benchmarks: their phones, tasks and scores, behind `lab.core.seams.Environment`."""
