"""Shortest names that tell a set of agents apart. An agent's identity is `Actor.identity`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from lab.core.redaction.secret_keys import without_keys
from lab.core.task.task import Actor, command_words, compose_name

Arguments = tuple[tuple[str, str], ...]

_LONGEST = 60
"""Longest argument value in characters. A hash replaces a longer one."""
_MOST = 40
"""Upper bound of the arguments stored of an agent."""
_IGNORED = frozenset({
    "seed", "api_base", "base_url", "api_key", "api_version", "timeout", "request_timeout", "num_retries",
    "max_retries", "max_connections", "headers", "extra_headers", "default_headers", "metadata", "user",
    "organization", "cache", "caching", "log_level",
})  # fmt: skip
"""Arguments that are not part of an agent's identity: how to reach its model, and which attempt it is."""


def shortest_names(agents: Iterable[Actor]) -> dict[str, str]:
    """Return the shortest distinct name of each agent, by identity.

    The name alone is enough if no other agent here has it. Agents of one name get as much of version, model and
    arguments as makes each distinct. A single agent gets its version and model.
    """
    known = {agent.identity: agent for agent in agents}
    if len(known) == 1:
        return {
            identity: agent.display_name if agent.implementation else _single_name(agent)
            for identity, agent in known.items()
        }
    by_name: dict[str, list[Actor]] = {}
    for agent in known.values():
        by_name.setdefault(agent.implementation or agent.id, []).append(agent)
    stems = _shorten_commands(by_name)
    names: dict[str, str] = {}
    for name, group in by_name.items():
        names |= _distinct_names(stems[name], group)
    texts = list(names.values())
    # Different stems may still give equal texts, which only the whole identity tells apart.
    return {identity: identity if texts.count(text) > 1 else text for identity, text in names.items()}


def argument_pairs(values: Mapping[str, Any]) -> Arguments:
    """Return the arguments that are part of an agent's identity, sorted by name, without keys, addresses and seeds."""
    pairs: list[tuple[str, str]] = []
    for name in sorted(map(str, values)):
        value = values.get(name)
        if name.casefold() in _IGNORED or value is None or value in ({}, []):
            continue
        text = value if isinstance(value, str) else msgspec.json.encode(value, order="deterministic").decode()
        # With its name, by which a key is recognized, too.
        safe_text = " ".join(without_keys(f"{name}={text}").partition("=")[2].split())
        if len(safe_text) > _LONGEST:
            # Hashed and not cut, so that two long prompts stay different.
            safe_text = f"sha256:{hashlib.sha256(safe_text.encode(errors='backslashreplace')).hexdigest()[:12]}"
        pairs.append((name[:_LONGEST], safe_text))
    return tuple(pairs[:_MOST])


def _single_name(agent: Actor) -> str:
    """Return the name of a single agent that has no implementation name."""
    stem = _shorten_commands([agent.id])[agent.id]
    return compose_name(stem, agent.version, "" if agent.model == stem else agent.model, ())


def _shorten_commands(names: Iterable[str]) -> dict[str, str]:
    """Shorten each program's command to its script's file name, or to the shortest form that is distinct here."""
    all_names = list(names)
    forms = {name: [*command_words(name), name] for name in all_names}
    stems: dict[str, str] = {}
    # The forms get longer from level to level. The first one that is distinct is taken.
    for level in range(max((len(form) for form in forms.values()), default=0)):
        at_level = {name: form[min(level, len(form) - 1)] for name, form in forms.items()}
        texts = list(at_level.values())
        for name, text in at_level.items():
            if name not in stems and texts.count(text) == 1:
                stems[name] = text
    return stems


def _distinct_names(stem: str, group: list[Actor]) -> dict[str, str]:
    """Name agents of one stem: add the fewest parts by which no other agent in the group is equal."""
    common = set.intersection(*(set(agent.arguments) for agent in group))
    parts = {
        agent.identity: (agent.version, agent.model, tuple(pair for pair in agent.arguments if pair not in common))
        for agent in group
    }
    names: dict[str, str] = {}
    for identity, own_parts in parts.items():
        for combination in _COMBINATIONS:
            is_useful = (
                any(own_parts[i] for i in combination) or not combination or not any(own_parts)
            )  # no text at all would stand for a part that is empty
            if is_useful and sum(all(own_parts[i] == other[i] for i in combination) for other in parts.values()) == 1:
                break
        version, model, arguments = (part if i in combination else type(part)() for i, part in enumerate(own_parts))
        names[identity] = compose_name(stem, str(version), str(model), cast(Arguments, arguments))
    return names


_COMBINATIONS = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
"""Combinations of version (0), model (1) and arguments (2) to try, fewest parts first."""
