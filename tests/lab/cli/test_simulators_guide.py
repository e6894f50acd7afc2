"""docs/guides/simulators.md whole: three scripted people, two models and a shadow, through built-in tasks by commands.

One model server speaks for all: users, a shadow, a judge, an agent. What each was sent is searched for what it must not
know, and all that is printed and kept for the key.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from lab.cli.main import main
from lab.core.study.report import Number, Report, Table
from store.store import Store
from tests.endpoint import ModelServer, Request, Said, serving
from tests.judges import sheet_brain

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "simulators.md"
FROM = "## Tutorial"
KEY = "sk-canary-of-the-guide-0123456789"
SHADE = "zqshade"
"""A word of the shadow's alone."""
FACTS = ("ISM-2217", "Materials scientist, polymer films", "Parcels go to the building desk.")
"""What stands in a persona's profile and nowhere on the phone, in the task or in the log."""
TABLES = {
    "knowu-5a": ("Error of evaluators", "Evaluators against one another"),
    "knowu-5b-personalized": ("Reasons, as they were settled",),
    "knowu-5b-proactive": ("Reasons, as they were settled",),
    "knowu-5c": ("The paper's numbers by who answered", "person, no mirror against M1, paired by task", "Replies",
                 "Models beside people", "Replies that the profile supports"),
    "memgui-a7": ("Agreement before discussion", "By kind of task", "By agent"),
    "memgui-irr": ("Information retention rate", "Agreement of raters"),
    "memgui-failures": ("Failure modes", "Modes by agent"),
    "golden-steps": ("What the second expert changed", "Tasks by difficulty"),
}  # fmt: skip
"""The papers' tables by study (KnowU-Bench 4.1 to 4.4, MemGUI-Bench A.4, A.6 to A.8)."""

ASKS = "How hot is it to be today?"
"""What the model that acts asks once."""

JUDGED: dict[str, dict[str, Any]] = {
    "support": {"value": "supported"}, "score": {"value": 0.5, "step": 1}, "task_score": {"value": 0.5},
    "outcome": {"value": "success", "step": 1},
}  # fmt: skip
judge_sheet = sheet_brain(lambda item, field: JUDGED.get(field))


def brain(request: Request) -> Said:
    """A judge fills in its sheet; users answer, each in words of its own; an agent asks and gives up."""
    if "You rate recorded runs" in request.text:
        return judge_sheet(request)
    if "You play one person" not in request.text:
        asked = ASKS in request.text
        done = {"action": "status", "status": "infeasible"}
        return Said(json.dumps(done if asked else {"action": "ask_user", "text": ASKS}), (50, 5))
    proposal = '"accept" or "reject"' in request.text
    shadow, large = request.json["model"] == "tiny", request.json["model"] == "large"
    text = SHADE if shadow else "Whatever you took the last time." if large else "Mild."
    decision = ("reject" if large else "accept") if proposal else None
    return Said(json.dumps({"text": text, "decision": decision}), (100, 5))


class Lab(NamedTuple):
    """The folder in which the guide ran, what was printed, what the models were sent."""

    folder: Path
    printed: str
    requests: Sequence[Request]

    def sent(self, model: str, what: str = "You play one person") -> list[str]:
        """All that a model was sent in one of its parts."""
        return [one.text for one in self.requests if one.json["model"] == model and what in one.text]

    def report(self, *line: str) -> Report:
        with _stdout() as out, contextlib.chdir(self.folder):
            assert main(["report", *line, "--json", "--db", "study.db"]) == 0
        return msgspec.json.decode(_text(out), type=Report)


class Guide:
    """Runs the guide's lines as a shell would, every command in this process: a model's library loads once."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch, self.printed = patch, io.StringIO()

    def block(self, lines: list[str]) -> None:
        """A block of lines: loops, files written by `cat`, commands."""
        while lines:
            line = lines.pop(0).strip()
            if loop := re.fullmatch(r"for (\w+) in (.*); do", line):
                inner = _until_done(lines)
                for value in loop[2].split():
                    self.block([one.replace(f"${loop[1]}", value) for one in inner])
            elif made := re.fullmatch(r"cat > (\S+) <<'END'", line):
                end = lines.index("END")
                Path(made[1]).write_text("\n".join(lines[:end]) + "\n", encoding="utf-8")
                del lines[: end + 1]
            elif line.startswith("export "):
                self.patch.setenv(*line.removeprefix("export ").split("=", 1))
            elif line:
                self.command(line)

    def command(self, line: str) -> None:
        """A command, perhaps after a program whose lines it reads."""
        line, _, file = line.partition(" > ")
        before, piped, last = line.rpartition(" | ")
        given = self._pretended(before) if piped else ""
        with _stdout() as out, contextlib.redirect_stderr(self.printed), _stdin(given):
            code = main(shlex.split(last)[1:])
        assert code == 0, (line, self.printed.getvalue()[-2000:])
        if file:
            Path(file).write_text(_text(out), encoding="utf-8")
        self.printed.write(_text(out))

    def _pretended(self, line: str) -> str:
        words, _, file = line.partition(" < ")
        out = io.StringIO()
        self.patch.setattr(sys, "argv", shlex.split(words)[1:])
        with contextlib.redirect_stdout(out), _stdin(Path(file).read_text(encoding="utf-8")):
            runpy.run_path(sys.argv[0])
        return out.getvalue()


def _until_done(lines: list[str]) -> list[str]:
    """What stands in a loop whose first line is gone; the loop's end goes, too."""
    depth, inner = 1, list[str]()
    while depth:
        inner.append(lines.pop(0))
        depth += inner[-1].strip().startswith("for ") - (inner[-1].strip() == "done")
    return inner[:-1]


@contextlib.contextmanager
def _stdout() -> Iterator[io.TextIOWrapper]:
    """Standard output as a file, bytes and all."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(out):
        yield out


def _text(out: io.TextIOWrapper) -> str:
    assert isinstance(out.buffer, io.BytesIO)
    return out.buffer.getvalue().decode()


@contextlib.contextmanager
def _stdin(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(text.encode()))
    try:
        yield
    finally:
        sys.stdin = before


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("guide")
    with pytest.MonkeyPatch.context() as patch, serving(brain) as server, contextlib.chdir(folder):
        for name in [name for name in os.environ if name.startswith("HITLAB_")]:
            patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("HITLAB_MODEL_BASE", server.base)
        patch.setenv("HITLAB_MODEL_PRICE_IN", "1")
        patch.setenv("HITLAB_MODEL_PRICE_OUT", "4")
        patch.setenv("HITLAB_MODEL_PICTURE", "128")
        guide = Guide(patch)
        page = PAGE.read_text(encoding="utf-8").partition(FROM)[2]
        for block in re.findall(r"^```\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
            guide.block(block.splitlines())
        guide.command("hitlab live usual_lunch --headless --agent model:agent --user model:large --shadow model:tiny")
        _refused(guide, server)
        yield Lab(folder, guide.printed.getvalue(), tuple(server.requests))


def _refused(guide: Guide, server: ModelServer) -> None:
    """A server that says no, and repeats the key that it was sent."""
    from tests.endpoint import Refused

    server.brain = lambda request: Refused(401, f"bad key {request.headers['authorization']}")
    guide.command("hitlab live usual_lunch --headless --user model:small --shadow model:other --json")
    assert '"status": "failed"' in guide.printed.getvalue() or '"status":"failed"' in guide.printed.getvalue()


def table(report: Report, id: str) -> Table:
    (one,) = [one for section in report.sections for one in section.tables if one.id == id]
    return one


def cells(report: Report, id: str, first: str) -> dict[str, Any]:
    """A row of a table by its columns; of numbers their value or why there is none."""
    one = table(report, id)
    (row,) = [row for row in one.rows if row[0] == first]
    told = [(cell.agreement.undefined or cell.agreement.value) if isinstance(cell, Number) else cell for cell in row]
    return dict(zip(one.columns, told, strict=True))


def test_people_and_models_are_compared_by_condition_and_paired_by_task(lab: Lab) -> None:
    report = lab.report("knowu-5c", "--with", "reply-support")
    users = table(report, "users")
    assert users.columns == ("", "person, no mirror", "M1", "M2")
    assert cells(report, "users", "Runs") == {"": "Runs", "person, no mirror": "8", "M1": "4", "M2": "4"}
    assert [one.title for section in report.sections for one in section.tables if one.id.startswith("paired-")] == [
        "person, no mirror against M1, paired by task", "person, no mirror against M2, paired by task",
        "M1 against M2, paired by task",
    ]  # fmt: skip
    assert "A rehearsal: in 8 runs a script answered in a person's place." in [
        line for section in report.sections for line in section.says
    ]


def test_fidelity_has_a_row_for_the_shadow_and_each_model_with_its_n(lab: Lab) -> None:
    report = lab.report("knowu-5c", "--with", "reply-support")
    rows = {str(row[0]): row for row in table(report, "fidelity").rows}
    assert list(rows) == ["model:tiny", "M1", "M2"]
    shadow = cells(report, "fidelity", "model:tiny")
    assert (shadow["How"], shadow["Replies"]) == ("shadow, the same questions", "8 of 8")
    assert isinstance(shadow["Decision, kappa"], float | str)
    assert 0 < shadow["Length ratio"] < 1
    assert 0 <= shadow["Similarity"] < 1
    assert 0 <= shadow["Supported"] <= 1
    assert shadow["Seconds"] >= 0
    for name in ("M1", "M2"):
        assert cells(report, "fidelity", name)["Similarity"] == "not asked the same questions"
        assert 0 <= cells(report, "fidelity", name)["Supported"] <= 1
    numbers = [cell.agreement for row in rows.values() for cell in row if isinstance(cell, Number)]
    assert all(one.places for one in numbers if one.value is not None)
    assert {row[1] for row in table(report, "fidelity-support").rows} == {"people", "judge J1"}


def test_every_table_of_both_protocols_comes_out(lab: Lab) -> None:
    for study, tables in TABLES.items():
        page = (lab.folder / f"{study}.md").read_text(encoding="utf-8")
        for title in tables:
            _, found, rest = page.partition(f"**{title}**")
            assert found, (study, title)
            assert rest.partition("\n\n**")[0].count("\n|") > 2, (study, title)


def test_what_is_hidden_reaches_user_models_alone(lab: Lab) -> None:
    for model, plays in (("small", 4), ("large", 5), ("tiny", 9)):
        sent = lab.sent(model)
        assert len(sent) >= plays, model
        assert any(all(fact in text for fact in FACTS) for text in sent), model
    agent = lab.sent("agent", "")
    assert len(agent) == 2, "it asked, got an answer and gave up"
    success = [text for text in lab.sent("large", "You rate recorded runs") if "Whether the run succeeded" in text]
    support = [text for text in lab.sent("large", "You rate recorded runs") if "a basis in the profile" in text]
    assert len(success) == 16
    assert len(support) >= 8 + 8 + 4 + 4, "people's, the shadow's and both models' replies"
    for text in (*agent, *success):
        assert not any(fact in text for fact in FACTS)
        assert SHADE not in text
    assert any(SHADE in text for text in support), "these are asked about shadows' replies on purpose"
    assert not any(SHADE in text for model in ("small", "large") for text in lab.sent(model))
    assert not any("model:tiny" in text or "shadow" in text for text in support)


def test_what_a_shadow_said_is_in_no_run_and_is_printed_nowhere(lab: Lab) -> None:
    with Store.open(lab.folder / "study.db", readonly=True) as store:
        events = "".join(body for (body,) in store.database.read("SELECT body FROM event"))
        rows = store.database.read("SELECT count(*) FROM shadow")[0][0]
        labels = "".join(body for (body,) in store.database.read("SELECT body FROM label"))
    assert rows >= 16
    assert SHADE not in events
    assert SHADE not in labels
    others = [path for path in lab.folder.iterdir() if path.suffix in (".md", ".txt") or path.suffix == ".json"]
    assert [path.name for path in others if SHADE in path.read_text(encoding="utf-8")] == ["reply-support.json"]


def test_the_key_is_in_no_file_and_was_printed_nowhere(lab: Lab) -> None:
    assert all(one.headers["authorization"] == f"Bearer {KEY}" for one in lab.requests)
    assert KEY not in lab.printed
    held = [path for path in lab.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert held == []
