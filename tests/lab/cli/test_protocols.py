"""`hitlab study protocols`: the list, one whole, a file that is checked; every word of a file is plain text."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from annotators.protocol import load_protocol
from annotators.protocols import protocol, protocols
from lab.cli.main import main
from lab.cli.study.protocols import ProtocolLine, ProtocolShown


def run(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    assert main(["protocols", *args]) == code
    told = capsys.readouterr()
    return told.out if code == 0 else told.err


def test_the_list_names_each_with_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys)
    for id, one in protocols().items():
        (line,) = [line for line in out.splitlines() if line.split()[:1] == [id]]
        assert one.sha[:8] in line
        assert one.title.split()[0] in line
    lines = msgspec.json.decode(run(capsys, "--json"), type=list[ProtocolLine])
    assert [line.id for line in lines] == list(protocols())
    assert lines[-1].sha == protocol("tdg").sha
    chinese = msgspec.json.decode(run(capsys, "--json", "--locale", "zh"), type=list[ProtocolLine])
    assert chinese[-1].title == "清单上的哪些项完成了"
    assert chinese[-1].sha == lines[-1].sha


@pytest.mark.parametrize("locale", ["en", "zh"])
@pytest.mark.parametrize("name", list(protocols()))
def test_one_is_printed_whole(capsys: pytest.CaptureFixture[str], name: str, locale: str) -> None:
    one = protocol(name)
    out = "".join(run(capsys, name, "--locale", locale).split())

    def printed(text: str) -> bool:
        return "".join(text.split()) in out

    assert printed(one.word(locale, "title", one.title))
    assert printed(one.sha[:8])
    assert printed(one.guide_sha(locale)[:8])
    assert printed(one.guideline(locale))
    for field in one.fields:
        assert printed(one.word(locale, field.id, field.ask))
        for option in field.options:
            caption = one.word(locale, f"{field.id}.{option.id}", option.display_name)
            assert printed(caption)
            assert caption == option.id or printed(f"{caption} ({option.id})"), "the id is what files hold"
            assert printed(one.word(locale, f"{field.id}.{option.id}.means", option.means))
            assert all(printed(case) for case in one.cases(locale, field, option))


def test_json_is_the_protocol_itself(capsys: pytest.CaptureFixture[str]) -> None:
    shown = msgspec.json.decode(run(capsys, "tdg", "--json"), type=ProtocolShown)
    assert shown.protocol == protocol("tdg")
    assert shown.sha == shown.protocol.sha
    assert shown.guides == {locale: shown.protocol.guide_sha(locale) for locale in ("en", "zh")}


def test_a_file_of_ones_own_is_checked_and_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    good = "title: Mine\nunit: run\nfields: [{id: a, ask: 'A [b]x[/b]?', kind: flag, hint: \"\\e[31mred\"}]\n"
    path.write_text(good, encoding="utf-8")
    out = run(capsys, str(path))
    assert out.startswith("Mine\n  mine, version ")
    assert "A [b]x[/b]? (a: flag)" in out
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out
    path.write_text(good.replace("kind: flag", "kind: flags"), encoding="utf-8")
    told = run(capsys, str(path), code=1)
    assert told.startswith(f"hitlab: protocol file {path}: field fields[0].kind: 'flags' is none of")
    refused = json.loads(capsys_out(capsys, "protocols", str(path), "--json"))
    assert refused["error"] == f"protocol file {path}"


def test_a_protocols_file_is_printed_to_begin_from(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "success.yaml"
    path.write_text(run(capsys, "success", "--yaml"), encoding="utf-8")
    assert load_protocol(path) == protocol("success")
    assert "--yaml needs the NAME of a protocol" in run(capsys, "--yaml", code=2)


def capsys_out(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main([*args]) == 1
    return capsys.readouterr().out


def test_a_name_or_language_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean rubric?" in run(capsys, "rubrik", code=1)
    assert main(["protocols", "tdg", "--locale", "fr"]) == 0
    told = capsys.readouterr()
    assert "tdg is not there in fr; it is in en, zh." in told.err
    assert "Was this item completed?" in told.out


FAULTS = {
    "unit: rnu": "field unit: 'rnu' is none of",
    "shows: [instruction, scrns]": "field shows[2]: 'scrns' is none of",
    "kind: nominal, options: [{id: a, name: A}": "field fields[1].options[1].name: there is none of that name; "
    "did you mean says?",
    "{id: x, kind: flagg": "field fields[2].kind: 'flagg' is none of",
    "reasons: [{id: r, name: Because}]": "field reasons[1].name: there is none of that name; did you mean says?",
}
RULES = {
    "{id: Ok!, ask: Was it?, kind: flag}": "field fields.Ok!: the id 'Ok!' is not small letters",
    "{id: x, kind: interval, ask: How?}": "field fields.x: an interval needs least and most",
    "{id: y, kind: interval, ask: How?, least: 5, most: 1}": "field fields.y: least 5 is not below most 1",
}


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    first, second, third, fourth, fifth = FAULTS
    path.write_text(
        f"title: Mine\n{first}\n{second}\nfields:\n  - {{id: ok, ask: Was it?, {third}, {{id: b}}]}}\n"
        f"  - {fourth}, ask: z}}\n{fifth}\n"
    )
    told = " ".join(run(capsys, str(path), code=1).split())
    assert "5 faults: " in told
    assert not [words for words in FAULTS.values() if words not in told]
    path.write_text("title: Mine\nunit: run\nfields:\n" + "".join(f"  - {rule}\n" for rule in RULES))
    told = " ".join(run(capsys, str(path), code=1).split())
    assert "3 faults: " in told
    assert not [words for words in RULES.values() if words not in told]


def test_of_very_many_faults_ten_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("title: Mine\nunit: run\nfields:\n" + "".join(f"  - {{idd: f{n}}}\n" for n in range(500)))
    told = run(capsys, str(path), code=1)
    assert "10 faults and more: " in told
    assert told.count("; field ") == 9
