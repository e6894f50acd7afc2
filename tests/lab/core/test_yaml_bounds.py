"""A YAML file that holds more than it shows is refused with a sentence, wherever a YAML file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.core.codec import read_yaml
from lab.core.errors import LabError
from lab.core.run.input_limits import YAML_BYTES, YAML_NODES
from tests.bounded import bounded, linux_only, refusal


def merges(levels: int = 9, width: int = 9) -> str:
    """Mappings that each merge the one before nine times: 500 bytes, and 9 ** 9 pairs."""
    lines = ["a0: &a0 {k: 1}"]
    lines += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * width)}]}}" for i in range(1, levels + 1)]
    return "\n".join(lines) + "\n"


def aliases(levels: int = 9, width: int = 9) -> str:
    """Lists that each hold the one before nine times."""
    lines = ["a0: &a0 [k]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels + 1))]
    return "\n".join(lines) + "\n"


ENTRIES = [
    ("tasks", "bomb.yaml"),
    ("live", "bomb.yaml", "--headless"),
    ("live", "usual_lunch", "--headless", "--user", "script:bomb.yaml"),
    ("live", "usual_lunch", "--headless", "--persona", "bomb.yaml"),
    ("personas", "bomb.yaml"),
    ("protocols", "bomb.yaml"),
    ("study", "new", "bomb.yaml"),
    ("author", "usual_lunch", "--draft", "bomb.yaml", "--as", "D1"),
]


@linux_only
@pytest.mark.parametrize("args", ENTRIES, ids=" ".join)
def test_a_bomb_of_merges_is_refused_at_every_entry(tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "bomb.yaml").write_text(merges())
    said = refusal(bounded(*args, "--db", "x.db", cwd=tmp_path))
    assert "bomb.yaml" in said
    assert f"more than the {YAML_NODES:,} values" in said


def wrong(text: str) -> str:
    with pytest.raises(LabError) as caught:
        read_yaml(text.encode(), "file x.yaml")
    assert caught.value.title == "file x.yaml"
    return caught.value.message


def test_aliases_merges_nodes_depth_and_bytes_each_have_their_bound() -> None:
    assert "values that are read, with what its aliases and merges repeat" in wrong(aliases())
    assert "values that are read, with what its aliases and merges repeat" in wrong(merges())
    assert "values that are read" in wrong("- a\n" * (YAML_NODES + 1))
    assert "nested too deeply" in wrong("[" * 5_000)
    assert "nested too deeply" in wrong(
        "\n".join(["a0: &a0 [k]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 400))])
    )
    assert f"more than the {YAML_BYTES:,} bytes" in wrong("a: " + "x" * YAML_BYTES)


def test_an_alias_of_what_it_stands_in_is_named_by_its_line() -> None:
    assert "line 2: is an alias of what it stands in" in wrong("a: 1\nb: &b [*b]\n")
    assert "line 1: is an alias of what it stands in" in wrong("&a {<<: *a}\n")


def test_what_people_write_with_merges_is_read_as_ever() -> None:
    text = "base: &base {a: 1, b: 2}\nboth: {<<: [*base, {c: 3}], b: 4}\nempty: {<<: {}}\nlist: [&x a, *x]\n"
    assert read_yaml(text.encode(), "x").value == {
        "base": {"a": 1, "b": 2}, "both": {"a": 1, "b": 4, "c": 3}, "empty": {}, "list": ["a", "a"],
    }  # fmt: skip
    assert read_yaml(b"", "x").value is None
    assert read_yaml(merges(3).encode(), "x").value["a3"] == {"k": 1}
