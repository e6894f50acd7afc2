"""The words of the commands for what people make and judge: record, review, privacy, author."""

from __future__ import annotations

from lab.options.common import Commands, command, json, on_phone, window


def add(commands: Commands) -> None:
    """Adds them."""
    _record(commands)
    _review(commands)
    _privacy(commands)
    _author(commands)


def _record(commands: Commands) -> None:
    record = command(commands, "record", "lab.commands.recording:record", "record how you do it: a demonstration")
    record.add_argument("task", nargs="?", metavar="TASK", help="a built-in task's name or a task file")
    record.add_argument("--resume", metavar="ID", help="go on with an open recording")
    record.add_argument("--intent", metavar="TEXT", help="what you want to do, in one sentence (else it is asked for)")
    record.add_argument(
        "--place", metavar="CATEGORY", help="the kind of place you are in: residence, office, school ..."
    )
    record.add_argument("--quick", action="store_true", help="each touch acts at once, with a suggested instruction")
    record.add_argument("--seat", choices=("participant", "designer", "developer"), help="who sits here")
    record.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    window(record)
    on_phone(record)


def _review(commands: Commands) -> None:
    review = command(commands, "review", "lab.commands.reviewing:review", "proofread demonstrations, two by two")
    review.add_argument("run_id", nargs="?", metavar="ID", help="a demonstration: its id or its beginning")
    review.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    act = review.add_mutually_exclusive_group()
    act.add_argument("--list", action="store_true", help="every demonstration's state, and edit rates per annotator")
    act.add_argument("--show", action="store_true", help="print it as you may see it")
    act.add_argument("--accept", metavar="STEP", help="accept a step, `whole`, or `all` that you have not looked at")
    act.add_argument("--edit", nargs=3, metavar=("STEP", "FIELD", "VALUE"),
                     help="instruction or action (JSON) of a step; intent, place or impossible of `whole`")  # fmt: skip
    act.add_argument("--reject", nargs=2, metavar=("STEP", "REASON"), help="refuse a step, or `whole`")
    act.add_argument("--settle", nargs=3, metavar=("STEP", "FIELD", "VALUE"),
                     help="as a third person: what stands where two differ")  # fmt: skip
    review.add_argument("--note", metavar="TEXT", help="with --settle: why")
    review.add_argument("--commit", action="store_true", help="hand it in: nothing in it changes any more")
    json(review)


def _privacy(commands: Commands) -> None:
    privacy = command(commands, "privacy", "lab.commands.privacy:privacy", "take out of runs what is private")
    privacy.add_argument("run_id", nargs="?", metavar="ID", help="a run: its id or its beginning")
    privacy.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    privacy.add_argument("--box", dest="boxes", nargs=2, action="append", metavar=("STEP", "L,T,R,B"),
                         help="cover this part of a step's screen, in pixels (may be given again)")  # fmt: skip
    privacy.add_argument(
        "--text", dest="texts", action="append", metavar="WORDS", help="cover these words all over the run"
    )
    privacy.add_argument("--everywhere", action="store_true", help="also in other runs that hold the same pictures")
    privacy.add_argument("--clear", action="store_true", help="say that it now holds nothing private")
    act = privacy.add_mutually_exclusive_group()
    act.add_argument("--list", action="store_true", help="demonstrations that nobody has cleared")
    act.add_argument("--show", action="store_true", help="print what looks private in it")
    act.add_argument("--wipe", action="store_true", help="rewrite the file, where another program kept it open before")
    json(privacy)


def _author(commands: Commands) -> None:
    author = command(commands, "author", "lab.commands.authoring:author", "draft, verify and freeze a task's design")
    author.add_argument("target", nargs="?", metavar="TASK|ID", help="a task's name or file, or a run of it")
    author.add_argument("--run", dest="run_id", metavar="ID", help="the run to look at (default: the newest)")
    author.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    act = author.add_mutually_exclusive_group()
    act.add_argument("--show", action="store_true", help="print the design, what is wrong with it, and its history")
    act.add_argument("--list", action="store_true", help="list the designs in the database")
    act.add_argument("--begin", choices=("task", "golden", "run"), help="a draft from what is there already")
    act.add_argument("--draft", metavar="FILE", help="lay tdg, branches, units or rubric from a YAML file into a draft")
    act.add_argument("--submit", action="store_true", help="hand the draft to another person")
    act.add_argument("--verify", action="store_true", help="freeze what another person submitted")
    act.add_argument("--object", dest="objection", metavar="WORDS", help="send it back and say why")
    act.add_argument("--reopen", action="store_true", help="take it back into a draft; a frozen one as a new version")
    act.add_argument("--settle", metavar="REVISION", help="say which of two drafts made at once stands")
    act.add_argument("--out", metavar="FILE", help="write the frozen design as YAML that a task file can hold")
    author.add_argument("--even-draft", action="store_true", help="with --out: write it as it stands, frozen or not")
    json(author)
