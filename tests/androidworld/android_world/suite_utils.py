"""Tasks with their parameters, drawn by a seed."""

from __future__ import annotations

import hashlib
import random
from typing import Any


def create_suite(
    task_registry: dict[str, Any],
    n_task_combinations: int = 1,
    seed: int | None = None,
    tasks: list[str] | None = None,
    use_identical_params: bool = False,
    env: Any = None,
) -> dict[str, list[Any]]:
    suite: dict[str, list[Any]] = {}
    for name, task_type in task_registry.items():
        suite[name] = []
        for i in range(n_task_combinations):
            instance_seed = int(hashlib.sha256(f"{seed}_{name}_{i}".encode()).hexdigest(), 16) % 2**32
            random.seed(instance_seed)
            suite[name].append(task_type({**task_type.generate_random_params(), "seed": instance_seed}))
    return suite
