"""The shell's line: what is quoted arrives as it is, what is not falls apart as it does in any POSIX shell."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulators.phone.served.line import BadLine, parse
from tests.fuzzing_examples import examples
from tests.simulators.phone.served.asking import Asked
from tests.store.formats.test_long_runs import guarded

ASKED = Asked()
NASTY = 'it\'s "50%" off; rm -rf $HOME & 你好 🙂\n'
SH = Path("/bin/sh")


def words(line: str) -> list[str]:
    """What a command is called with, when the line's words follow its name."""
    return ASKED.say(f"printf '%s\\0' {line}").text.split("\0")[:-1]


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_quoted_text_arrives_unchanged(text: str) -> None:
    assert words(shlex.quote(text)) == [text]


def test_the_nastiest_text_arrives_in_each_way_of_quoting() -> None:
    for quoted in (
        shlex.quote(NASTY),
        '"it\'s \\"50%\\" off; rm -rf \\$HOME & 你好 🙂\n"',
        "$'it\\'s \"50%\" off; rm -rf $HOME & \\u4f60\\u597d \\U1F642\\n'",
        "".join("'\n'" if ch == "\n" else "\\" + ch for ch in NASTY),
    ):
        assert words(quoted) == [NASTY], quoted


def test_no_regular_expression_of_a_client_hangs_the_phone() -> None:
    with guarded():
        for command in ("grep -E", "grep -oE", "grep -cE", "egrep"):
            said = ASKED.say(f"echo {'a' * 5000} | {command} '(a+)+$'")
            assert (said.code, said.err.count("\n")) == (2, 1)
            assert "repeats within repeats" in said.err
        assert ASKED.say(f"echo {'a' * 5000} | sed -E 's/(a|aa)+b/x/g'").code == 2
    for tried in ("a*a*a*a*b", "a.*a.*b", "a+b"):
        with guarded():
            assert ASKED.say(f"echo {'a' * 100_000} | grep -E '{tried}'").code == 1
        with guarded():
            assert ASKED.say(f"echo {'a' * 50_000}c | sed -E 's/{tried}/x/'").text == "a" * 50_000 + "c\n"


def test_a_dump_in_one_long_line_is_searched_whole() -> None:
    node = '<node text="" bounds="[0,0][10,10]"/>'
    line = node * 1500 + '<node text="Pay" bounds="[1,2][30,40]"/>'
    asked = f"""echo '{line}' | grep -oE 'text="[^"]+" bounds="[^"]*"'"""
    assert ASKED.say(asked).text == 'text="Pay" bounds="[1,2][30,40]"\n'
    assert ASKED.say(f"""echo '{line}' | sed -E 's/.*text="Pay" //'""").code == 0


@pytest.mark.skipif(not SH.exists(), reason="there is no /bin/sh here")
@settings(max_examples=examples(120), deadline=None)
@given(st.text("ab '\"\\%=\t", max_size=14))
def test_quotes_mean_what_they_mean_to_sh(line: str) -> None:
    asked = f"printf '%s|' x{line}"
    real = subprocess.run([str(SH), "-c", asked], capture_output=True, timeout=180, check=False)
    said = ASKED.say(asked)
    if real.returncode:
        assert said.code
        assert "no closing quote" in said.err
    elif not line.endswith("\\"):  # shells differ over a last backslash
        assert said.out == real.stdout


@pytest.mark.skipif(not SH.exists(), reason="there is no /bin/sh here")
@pytest.mark.parametrize(
    "line",
    [
        "true && echo a || echo b", "false && echo a || echo b", "false; echo $?", "! true; echo $?",
        "echo a | cat | wc -c | tr -d ' '", "(exit 7); echo $?", "{ echo a; echo b; } | cat",
        "x='a  b'; echo $x; echo \"$x\"",
        "if true; then echo a; else echo b; fi; if false; then echo a; elif true; then echo c; fi",
        "if false; then :; fi",
        "for x in 1 2 'a b'; do echo \"<$x>\"; done; echo $x", "for x in; do echo $x; done; echo none",
        "x=; while [ \"$x\" != aaa ]; do x=a$x; echo $x; done | tail -n 1", "until true; do echo a; done; echo $?",
        "for x in 1 2 3 4; do if [ $x = 2 ]; then continue; fi; [ $x = 4 ] && break; echo $x; done",
        "for x in a b\ndo\necho $x\ndone", "if [ -f /none ]\nthen echo a\nelse echo b\nfi > /dev/null; echo fi done",
        "if false; then echo a; fi; echo $?; if true; then false; fi; echo $?", "echo if then; echo for do done",
        "x=5 ; echo ${x}1 ${nothing:-none} ${x:+set}", "echo \"$(echo 'a b' | cat)\"c",
        "echo `echo a b`", "echo a # no\necho b", "echo a\\\nb", "echo 'a\nb' | grep -c .", "echo $(echo '  a   b ')",
        "echo a >/dev/null; echo b 2>&1", "echo \"a\\$b\\\\c\\d\"", "printf '%s-%s\\n' 1 2 3 | tail -n 1",
        "[ a = a ] && echo same; [ 2 -lt 10 ] && echo less; test -z '' && echo empty", "echo ''a'' \"\" b | cat -",
        "sh -c 'echo inner $0' ; echo out", "echo a|sed 's/a/b&/'", "echo 3 1 2 | tr ' ' '\\n' | sort -rn | head -n 1",
    ],
)  # fmt: skip
def test_lists_pipes_and_parameters_go_as_in_sh(line: str) -> None:
    real = subprocess.run([str(SH), "-c", line], capture_output=True, timeout=180, check=False, env={"HOME": "/"})
    said = ASKED.say(line)
    inner = said.out.replace(b"/system/bin/sh", bytes(SH))
    shown = real.stdout.replace(b"inner sh", b"inner " + bytes(SH))
    assert (inner.decode(), said.code) == (shown.decode(), real.returncode)


def test_what_is_not_quoted_falls_apart() -> None:
    assert words("a b*c $HOME/x") == ["a", "b*c", "//x"]
    assert words("costs $5.00") == ["costs", ".00"]
    assert ASKED.say("echo a & b").err == "/system/bin/sh: b: inaccessible or not found\n"
    said = ASKED.say("input text it's")
    assert (said.err, said.code) == ("/system/bin/sh: no closing quote\n", 1)


def test_what_is_put_aside_is_not_waited_for() -> None:
    said = ASKED.say("getevent & echo after; (echo inner; exit 3) | cat & false")
    assert "after" in said.lines
    assert said.code == 1


def test_patterns_stand_for_files_only_where_they_are_not_quoted() -> None:
    asked = Asked()
    asked.services.files |= {"/sdcard/a.png": b"", "/sdcard/b.png": b"", "/sdcard/Pictures/c.png": b""}
    assert asked.text("echo /sdcard/*.png '/sdcard/*.png' /sdcard/*/c.* /sdcard/?.jpg") == (
        "/sdcard/a.png /sdcard/b.png /sdcard/*.png /sdcard/Pictures/c.png /sdcard/?.jpg"
    )
    assert asked.text("cd /sdcard && echo *.png; pwd") == "a.png b.png\n/sdcard"


@pytest.mark.parametrize(
    "line",
    [
        "echo )",
        "a &&",
        "| a",
        "(echo",
        "echo 'a",
        'echo "a',
        "echo $(b",
        "echo `b",
        "a >",
        "if true; fi",
        "if true; then a",
        "for x in a; echo; done",
        "for 1 in a; do b; done",
        "done",
        "while true; do",
        "then a",
    ],
)
def test_a_line_that_is_none_is_said_and_nothing_is_run(line: str) -> None:
    with pytest.raises(BadLine):
        parse(line)
    said = ASKED.say(f"echo first; {line}")
    assert said.code == 1
    assert not said.out
    assert said.err.startswith("/system/bin/sh: ")


@given(st.text(st.sampled_from("ab'\"\\ ;&|<>(){}$`#\n!=~*")))
def test_any_line_is_read_or_refused(line: str) -> None:
    refused = False
    try:
        parse(line)
    except BadLine:
        refused = True
    assert not refused or ASKED.say(f"echo first; {line}").code == 1


def test_what_nests_too_deep_is_refused() -> None:
    assert ASKED.say("(" * 5000).code == 1
    deep = "echo a"
    for _ in range(40):
        deep = f"sh -c {shlex.quote(deep)}" if len(deep) < 2000 else deep
    assert ASKED.say(deep).code in (0, 1)
