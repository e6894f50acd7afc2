"""Which runs are of one agent, and the shortest texts that tell the agents of a set apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.errors import LabError
from lab.core.run.agent_names import argument_pairs, shortest_names
from lab.core.task.task import Actor, agent_word


def program(command: str, name: str = "", version: str = "", model: str = "") -> Actor:
    return Actor("script", f"process:{command}", implementation=name, version=version, model=model)


def imported(name: str, model: str, **arguments: str) -> Actor:
    return Actor("model", model, implementation=name, model=model, arguments=tuple(arguments.items()))


@pytest.mark.parametrize(
    ("agents", "names"),
    [
        ([program("python3 /opt/me/mine.py")], ["mine.py"]),
        ([program("python3 /a/mine.py"), program("/usr/bin/node /a/other.mjs --fast")], ["mine.py", "other.mjs"]),
        ([program("python3 /a/mine.py -t 0"), program("python3 /a/mine.py -t 1")], ["mine.py -t 0", "mine.py -t 1"]),
        ([program("python3 /a/mine.py"), program("python3.12 /b/mine.py")], ["python3 mine.py", "python3.12 mine.py"]),
        ([program("python3 -m pkg.agent"), program("./run_agent --x 1.5"), program("bash start")],
         ["pkg.agent", "run_agent", "start"]),
        ([program("python3 /a/mine.py"), program("python3 /b/mine.py")],
         ["process:python3 /a/mine.py", "process:python3 /b/mine.py"]),
        ([program("p a.py", "mine", "1"), program("p b.py", "mine", "2")], ["mine 1", "mine 2"]),
        ([program("p a.py", "mine", "1", "qwen")], ["mine 1 (qwen)"]),
        ([program("p a.py", "mine", "1"), program("p b.py", "other", "1")], ["mine", "other"]),
        ([program("p a.py", "mine"), program("p a.py", "mine", "2")], ["mine", "mine 2"]),
        ([imported("llm_agent", "m/one"), imported("retry_agent", "m/one")], ["llm_agent", "retry_agent"]),
        ([imported("llm_agent", "m/one"), imported("llm_agent", "m/two")], ["llm_agent (m/one)", "llm_agent (m/two)"]),
        ([imported("a", "m", t="0", p="1"), imported("a", "m", t="1", p="1")], ["a (t=0)", "a (t=1)"]),
        ([Actor("model", "m/one"), imported("llm_agent", "m/one")], ["m/one", "llm_agent"]),
        ([Actor("script", "playbook:lunch", "playbook agent"), Actor("model", "model:x", "x")],
         ["playbook:lunch", "model:x"]),
    ],
)  # fmt: skip
def test_the_shortest_text_tells_agents_apart(agents: list[Actor], names: list[str]) -> None:
    short = shortest_names(agents)
    assert [short[agent.identity] for agent in agents] == names


WORDS = st.sampled_from(["", "a", "a 1", "1", "2", "m", "a (m)", "m, t=0"])


@given(st.lists(st.tuples(WORDS.filter(bool), WORDS, WORDS, WORDS, WORDS), max_size=8))
def test_different_agents_never_share_a_text(parts: list[tuple[str, str, str, str, str]]) -> None:
    agents = [Actor("model", i, "", n, v, m, (("t", t),) if t else ()) for i, n, v, m, t in parts]
    short = shortest_names(agents)
    assert len(set(short.values())) == len({agent.identity for agent in agents})


def test_arguments_hold_no_key_address_or_seed() -> None:
    values = {
        "temperature": 0.7, "api_key": "sk-abcdefghijklmnop", "seed": 3, "api_base": "http://10.0.0.1/v1",
        "token": "sk-abcdefghijklmnop", "prompt": "x" * 500, "empty": None,
    }  # fmt: skip
    pairs = dict(argument_pairs(values))
    assert set(pairs) == {"temperature", "token", "prompt"}
    assert "sk-" not in str(pairs)
    assert len(pairs["prompt"]) < 40
    assert argument_pairs({"a": 1, "b": {"y": 1, "x": 2}}) == argument_pairs({"b": {"x": 2, "y": 1}, "a": 1})


def test_a_name_is_one_short_line() -> None:
    assert agent_word("  my\nagent ") == "my agent"
    with pytest.raises(LabError, match="at most 100 characters"):
        agent_word("x" * 101)
