"""Models play a study by commands: each under a code of its own, within a budget, gone on with where none answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from lab.cli.main import main
from lab.cli.settings.schemas import schemas
from lab.core.task.task import Actor
from lab.runs import shadows
from lab.runs.session import Session
from lab.runs.shadows import answer_shadow
from lab.studies.playing.play_session import Participation
from lab.studies.playing.played_runs import study_plays
from simulators.users.model import UNKNOWN
from store.file.process_lock import process_lock
from store.store import Store
from tests.endpoint import ModelServer, Refused, Request, Said, serving
from tests.plays import COFFEE, LUNCH, frozen, play_to_end, unit

KEY = "sk-canary-of-plays-0123456789"
UNITS = [
    *(unit(name, id=f"{name}-model", user="model") for name in (LUNCH, COFFEE)),
    *(unit(name, id=f"{name}-person", mirror=False) for name in (LUNCH, COFFEE)),
]
Hitlab = Callable[..., Any]


def answers(request: Request) -> Said:
    proposal = '"accept" or "reject"' in request.text
    return Said(json.dumps({"text": "Mild please", "decision": "accept" if proposal else None}), (1000, 100))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with serving(answers) as serves:
        monkeypatch.setenv("HITLAB_MODEL_BASE", serves.base)
        yield serves


@pytest.fixture
def hitlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hitlab:
    """A command's JSON at a file that holds the study `teas`; with `says` what it complains of."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name, value in {"PRICE_IN": "1", "PRICE_OUT": "4", "TRIES": "1"}.items():
        monkeypatch.setenv(f"HITLAB_MODEL_{name}", value)
    with Store.open(tmp_path / "lab.db") as store:
        frozen(store, UNITS, quiz=1)

    def run(*line: str, code: int = 0, says: str = "") -> Any:
        capsys.readouterr()
        more = [] if says else ["--json"]
        assert main([*line, *more, "--db", str(tmp_path / "lab.db")]) == code, capsys.readouterr()
        out = capsys.readouterr()
        assert KEY not in out.out + out.err
        assert says in out.err
        return None if says else json.loads(out.out)

    return run


def test_several_models_play_under_codes_of_their_own_and_twice_nothing_is_paid(
    server: ModelServer, hitlab: Hitlab, tmp_path: Path
) -> None:
    one = hitlab("study", "play", "teas", "--model", "small", "--as", "M1")
    hitlab("study", "play", "teas", "--model", "large")
    jsonschema.Draft202012Validator(msgspec.json.schema(schemas()["study-play"])).validate(one)
    assert [(run["unit"], run["by"], run["status"]) for run in one["runs"]] == [
        (f"{LUNCH}-model", "M1", "completed"), (f"{COFFEE}-model", "M1", "completed"),
    ]  # fmt: skip
    assert one["cost"] == pytest.approx(sum(run["cost"] for run in one["runs"]))
    assert one["cost"] > 0
    count = len(server.requests)
    again = hitlab("study", "play", "teas", "--model", "small", "--as", "M1")
    assert len(server.requests) == count
    assert [run["trace"] for run in again["runs"]] == [run["trace"] for run in one["runs"]]
    assert again["cost"] == 0
    with Store.open(tmp_path / "lab.db") as store:
        found = study_plays(store, store.studies.study("teas"))
        assert {one.by for one in found} == {Actor("model", "M1", "small"), Actor("model", "model:large", "large")}


def test_a_code_is_one_model_by_one_prompt_and_no_persons(server: ModelServer, hitlab: Hitlab) -> None:
    hitlab("study", "play", "teas", "--model", "small", "--as", "M1")
    hitlab("study", "play", "teas", "--model", "large", "--as", "M1", code=1,
           says="M1 has played here by other prompts or terms")  # fmt: skip
    hitlab("study", "play", "teas", "--model", "large", "--as", "P1", code=1, says="P1 is one of the study's people")


def test_a_budget_begins_no_play_that_goes_beyond_it(server: ModelServer, hitlab: Hitlab) -> None:
    cost = hitlab("study", "play", "teas", "--model", "first")["runs"][0]["cost"]
    done = hitlab("study", "play", "teas", "--model", "small", "--budget", f"{cost * 1.5:.6f}", code=3)
    assert len(done["runs"]) == 1
    assert (done["left"], done["ended"][:10]) == (1, "the budget")
    rest = hitlab("study", "play", "teas", "--model", "small")
    assert [run["new"] for run in rest["runs"]].count(True) == 1
    hitlab("study", "play", "teas", "--model", "small", "--budget", "-1", code=2, says="is no sum of dollars")


def test_no_budget_where_nobody_knows_a_price(
    server: ModelServer, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HITLAB_MODEL_PRICE_IN")
    monkeypatch.delenv("HITLAB_MODEL_PRICE_OUT")
    hitlab("study", "play", "teas", "--model", "small", "--budget", "1", code=1, says="nobody knows what small costs")
    assert server.requests == []


def test_where_no_model_answers_the_run_stays_open_and_is_gone_on_with(server: ModelServer, hitlab: Hitlab) -> None:
    server.brain = lambda request: Refused(500, f"no, {request.headers['authorization']}")
    away = hitlab("study", "play", "teas", "--model", "small", code=3)
    assert [run["status"] for run in away["runs"]] == ["open", "open"]
    assert all("gave no answer" in run["why"] for run in away["runs"])
    server.brain = answers
    done = hitlab("study", "play", "teas", "--model", "small")
    assert [run["trace"] for run in done["runs"]] == [run["trace"] for run in away["runs"]]
    assert [run["status"] for run in done["runs"]] == ["completed", "completed"]


def test_what_no_reply_could_be_read_from_has_failed_with_the_reason(server: ModelServer, hitlab: Hitlab) -> None:
    server.brain = lambda request: Said("Perhaps.")
    done = hitlab("study", "play", "teas", "--model", "small")
    assert [run["status"] for run in done["runs"]] == ["failed", "failed"]


def test_a_budget_counts_answers_that_no_reply_came_of(server: ModelServer, hitlab: Hitlab) -> None:
    server.brain = lambda request: Said("Perhaps.", (1000, 20))
    one = 2 * (1000 + 4 * 20) / 1e6
    done = hitlab("study", "play", "teas", "--model", "small", "--budget", f"{one * 1.5:.6f}", code=3)
    assert [run["cost"] for run in done["runs"]] == [pytest.approx(one)]
    assert done["cost"] == pytest.approx(one)
    assert (done["left"], done["ended"][:10], len(server.requests)) == (1, "the budget", 2)


def test_a_budget_ends_where_a_server_does_not_tell_its_tokens(server: ModelServer, hitlab: Hitlab) -> None:
    server.brain = lambda request: answers(request)._replace(usage=None)
    done = hitlab("study", "play", "teas", "--model", "small", "--budget", "5", code=3)
    assert [run["status"] for run in done["runs"]] == ["completed"]
    assert (done["left"], done["ended"]) == (1, "nobody knows what 1 answer cost, and there is a budget")


@pytest.mark.parametrize(
    ("told", "ended"),
    [
        (True, "the budget of 1e-06 US dollars does not reach for the next question"),
        (False, "nobody knows what the answers cost, and there is a budget"),
    ],
)
def test_shadows_are_asked_no_more_once_the_budget_is_spent_or_nobody_knows_that(
    server: ModelServer, hitlab: Hitlab, tmp_path: Path, *, told: bool, ended: str
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        frozen(store, UNITS, id="dusk", quiz=0, shadows=("model:shade",))
    server.brain = lambda request: Refused(500, "no")
    hitlab("study", "play", "dusk", "--rehearse", "P1")
    before = len(server.requests)
    server.brain = lambda request: answers(request) if told else answers(request)._replace(usage=None)
    with process_lock(tmp_path / "lab.db", "dusk", 1, "shadows", title="study play", does="plays"):
        hitlab("study", "play", "dusk", "--shadows", code=1)  # another process asks them
    assert len(server.requests) == before
    done = hitlab("study", "play", "dusk", "--shadows", "--budget", "0.000001", code=3)
    assert (done["shadows"]["new"], done["shadows"]["questions"], len(server.requests) - before) == (1, 2, 1)
    assert done["ended"] == ended


def test_a_budget_of_shadows_counts_answers_that_came_back_empty(
    server: ModelServer, hitlab: Hitlab, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        frozen(store, UNITS, id="dusk", quiz=0, shadows=("model:shade",))
    server.brain = lambda request: Refused(500, "no")
    hitlab("study", "play", "dusk", "--rehearse", "P1")
    before = len(server.requests)
    server.brain = lambda request: Said("", (1000, 20))
    done = hitlab("study", "play", "dusk", "--shadows", "--budget", "0.000001", code=3)
    assert (done["cost"], len(server.requests) - before) == (pytest.approx((1000 + 4 * 20) / 1e6), 1)
    assert done["ended"] == "the budget of 1e-06 US dollars does not reach for the next question"


def test_a_model_that_another_process_has_play_is_refused(server: ModelServer, hitlab: Hitlab, tmp_path: Path) -> None:
    line = ("study", "play", "teas", "--model", "small", "--as", "M1")
    with process_lock(tmp_path / "lab.db", "teas", 1, "play", "M1", title="study play", does="plays"):
        hitlab(*line, code=1, says="another process has M1 play teas v1 now. Both would pay for the same answers.")
        assert server.requests == []
        hitlab("study", "play", "teas", "--model", "small", "--as", "M2")
    assert [run["status"] for run in hitlab(*line)["runs"]] == ["completed", "completed"]


def test_ctrl_c_while_shadows_are_asked_is_told_with_what_they_answered(
    server: ModelServer, hitlab: Hitlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        frozen(store, UNITS, id="dusk", quiz=0, shadows=("model:shade",))
    server.brain = lambda request: Refused(500, "no")
    hitlab("study", "play", "dusk", "--rehearse", "P1")
    server.brain = answers
    asked: list[str] = []

    def interrupted(store: Store, run: str, *question: Any) -> Any:
        asked.append(run)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return answer_shadow(store, run, *question)

    line = ("study", "play", "dusk", "--shadows")
    with monkeypatch.context() as patched:
        patched.setattr(shadows, "answer_shadow", interrupted)
        stopped = hitlab(*line, code=3)
    assert (stopped["interrupted"], stopped["shadows"]["new"], stopped["shadows"]["questions"]) == (True, 1, 2)
    assert hitlab(*line)["shadows"]["answered"] == 2


def test_the_prompt_is_shown_as_it_would_be_sent(server: ModelServer, hitlab: Hitlab) -> None:
    shown = hitlab("study", "play", "teas", "--show-prompt", f"{COFFEE}-model")
    jsonschema.Draft202012Validator(msgspec.json.schema(schemas()["study-play-prompt"])).validate(shown)
    assert server.requests == []
    system, user = shown["messages"]
    assert UNKNOWN in system["text"]
    assert shown["prompts"] in system["text"]
    assert "ISM-2217" in user["text"]
    hitlab("study", "play", "teas", "--model", "small")
    sent = [one.texts for one in server.requests if "ISM-2217" in one.text]
    assert system["text"] in {texts[0] for texts in sent}
    head = user["text"].partition("# Said so far")[0]
    assert any(texts[1].startswith(head) for texts in sent)


def test_scripts_rehearse_who_has_not_played_and_the_report_says_so(hitlab: Hitlab, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        study = store.studies.study("teas")
        part = Participation(store, study, Actor("human", "P2"))
        part.agree()
        persona = part.where().play.persona
        assert persona is not None
        part.answer_quiz(persona, part.quiz_state(persona).waiting[0].right)
        play_to_end(part)
        part.where()
    done = hitlab("study", "play", "teas", "--rehearse", "P1")
    assert [run["by"] for run in done["runs"]] == ["P1", "P1"]
    assert {run["status"] for run in done["runs"]} == {"completed"}
    assert hitlab("study", "play", "teas", "--rehearse", "P1")["runs"] == []
    hitlab("study", "play", "teas", "--rehearse", "P2", code=1, says="P2 has played themselves")
    with Store.open(tmp_path / "lab.db") as store:
        refused = frozen(store, UNITS[2:], ("P3",), id="cups", quiz=0)
        Participation(store, refused, Actor("human", "P3")).refuse()
        hitlab("study", "play", "cups", "--rehearse", "P3", code=1, says="P3 did not agree to take part")
        assert [act.act for act in store.labels.acts(refused, "P3")] == ["left"]
    hitlab("study", "play", "teas", "--rehearse", "P9", code=1, says="P9 is none of its people")
    report = hitlab("report", "teas")
    says = [line for section in report["sections"] for line in section.get("says", ())]
    assert "A rehearsal: in 2 runs a script answered in a person's place." in says
    [answers] = [section for section in report["sections"] if section["title"] == "Answers"]
    assert "A rehearsal: a script played 2 runs in a person's place, and its answers count here." in answers["says"]


@pytest.mark.parametrize("line", [("--model", "tiny"), ("--rehearse", "P1")])
def test_ctrl_c_is_told_and_the_same_line_goes_on(
    server: ModelServer, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]
) -> None:
    def interrupted(session: Session) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Session, "start", interrupted)
        hitlab("study", "play", "teas", *line, code=3, says="Interrupted: the same line again goes on from here.")
    runs = hitlab("study", "play", "teas", *line)["runs"]
    assert [run["status"] for run in runs] == ["completed", "completed"]
