"""Every command, declared once. Parsers, help, completion and the names of earlier versions follow from it."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself costs a tenth of the time of `hitlab --help`
    from collections.abc import Iterator


class Entry:
    """One command: its name, its line of help and its module, which has a function `add_PATH`.

    `was` are its command lines in earlier versions. They keep working and are not listed.
    """

    def __init__(self, name: str, help: str, module: str, was: tuple[str, ...] = ()) -> None:
        self.name, self.help, self.module, self.was = name, help, module, was


class Noun:
    """A word with verbs. Without a verb it prints its help.

    `default` is the verb of a line that has other words but no verb. `headings` are those of the help, by first verb.
    `examples` are lines to type. `bare` is the function (`module:name`) that prints more below the help of a line
    without a verb. `tries` are verbs that the noun lacks and people try, with the right one. `name_hint` says what to
    type with a name in place of a verb.
    """

    def __init__(
        self, name: str, help: str, verbs: tuple[Entry | Noun, ...], *, examples: str, default: str = "",
        headings: dict[str, str] | None = None, bare: str = "", tries: dict[str, str] | None = None,
        name_hint: str = "",
    ) -> None:  # fmt: skip
        self.name, self.help, self.verbs, self.examples = name, help, verbs, examples
        self.default, self.headings, self.bare = default, headings or {}, bare
        self.tries, self.name_hint = tries or {}, name_hint


RUNS = Noun(
    "runs",
    "list, show, compare, tag, fork and redact runs",
    (
        Entry("list", "list runs: filter, sort, group", "runs.list_runs"),
        Entry("show", "print one run", "runs.list_runs", was=("show",)),
        Entry("compare", "compare two runs step by step", "runs.compare", was=("compare",)),
        Entry("family", "list the runs forked from one another", "runs.fork", was=("family",)),
        Entry("metrics", "compute the five papers' numbers over runs", "runs.metrics", was=("metrics",)),
        Entry("fork", "continue from a step of a run in another way", "runs.fork", was=("fork",)),
        Entry("tag", "tag runs, untag them, or list the tags", "runs.acts", was=("tag",)),
        Entry("rename-agent", "correct the name of runs' agent", "runs.acts", was=("rename-agent",)),
        Entry("archive", "archive runs: no list shows them, nothing is lost", "runs.acts", was=("archive",)),
        Entry("restore", "restore archived runs", "runs.acts", was=("restore",)),
        Entry("review", "proofread demonstrations, two people each", "runs.review", was=("review",)),
        Entry("redact", "cover what is private in runs", "runs.redact", was=("privacy",)),
        Entry("ocr", "read the words in pictures whose phone reported none", "runs.ocr", was=("read",)),
    ),
    default="list",
    tries={"delete": "archive", "remove": "archive", "rename": "rename-agent", "print": "show"},
    headings={"list": "look", "fork": "change", "review": "prepare demonstrations and pictures"},
    examples="""\
  hitlab runs list 'score<1' --sort score-
  hitlab runs show 019a
  hitlab runs compare 019a 019b
  hitlab runs metrics --group-by agent
""",
)

KIT = Noun(
    "kit",
    "export what one rater may see as a file, and import their work",
    (
        Entry("export", "write a file with what one rater may see, to rate elsewhere", "study.kits"),
        Entry("import", "take a kit's work back in, all of it or nothing", "study.kits", was=("study take",)),
    ),
    default="export",
    examples="""\
  hitlab study kit export tdg --rater R1 --output R1.db
  hitlab study kit import R1.db
""",
)

STUDY = Noun(
    "study",
    "plan studies, deal them, rate and play in them, follow them",
    (
        Entry("protocols", "list what raters can be asked, or check a protocol", "study.protocols", was=("protocols",)),
        Entry("new", "freeze a study: who is asked what of which runs", "study.new"),
        Entry("extend", "add runs to a running study as its next version", "study.extend"),
        Entry("deal", "deal a study's units to its raters, each in another order", "study.deal"),
        Entry("rate", "rate or play in a study, from where you left it", "study.play", was=("study open",)),
        Entry("play", "let a script or a model play its units, without a screen", "study.play"),
        Entry("links", "make a browser link for each person", "study.links"),
        KIT,
        Entry("status", "print the progress of studies, or of one study's people", "study.status"),
        Entry("watch", "watch pace, time left, stragglers and disagreement", "study.watch"),
        Entry("raters", "print each rater's pace, drift and agreement", "agreement", was=("raters",)),
        Entry("runs", "list what was played: who, which condition, how", "study.played_runs"),
        Entry("show", "print a study's plan", "study.status"),
        Entry("replace", "deal what a leaving rater has left to another", "study.deal"),
        Entry("release", "let a rater continue who was held after the pilot", "study.deal"),
        Entry("lock", "lock a study: nothing in it changes afterwards", "study.deal"),
        Entry("archive", "archive a study: no list shows it, nothing is lost", "study.deal"),
        Entry("restore", "restore an archived study", "study.deal"),
    ),
    tries={"list": "status", "create": "new", "delete": "archive", "remove": "archive"},
    name_hint="The name of a study follows a verb: `hitlab study status {}`.",
    headings={"protocols": "plan", "rate": "rate and play", "status": "follow", "replace": "manage"},
    examples="""\
  hitlab study new tdg --runs all --raters R1,R2,R3 --overlap 3
  hitlab study deal tdg
  hitlab study rate tdg --person R1    from where you left it
  hitlab study status tdg              who has how much left
""",
)

LABELS = Noun(
    "labels",
    "list, add and adjudicate answers of a study",
    (
        Entry("list", "list the answers of a study", "labels.list_labels"),
        Entry("add", "add answers from JSON lines, by the rules of the screen", "labels.add", was=("label",)),
        Entry("adjudicate", "settle what raters disagree on, with a reason", "labels.adjudicate", was=("adjudicate",)),
    ),
    default="list",
    examples="""\
  hitlab labels list tdg --csv > tdg.csv
  hitlab labels add tdg answers.jsonl --person R1
  hitlab labels adjudicate tdg --list
""",
)

SERVE = Noun(
    "serve",
    "serve studies to browsers, a user to benchmarks, a phone to adb",
    (
        Entry("study", "serve studies to browsers, each person by a link", "serve.studies"),
        Entry("user", "answer as the user of a benchmark that takes a base URL", "serve.user", was=("answer",)),
        Entry("phone", "serve the embedded phone as a phone for adb", "devices", was=("phone",)),
    ),
    default="study",
    examples="""\
  hitlab serve study tdg
  hitlab serve user --person P07
  hitlab serve phone --task usual_lunch
""",
)

FILE = Noun(
    "file",
    "merge, copy and find databases; withdraw a person",
    (
        Entry("where", "print where everything is stored", "about", was=("where",)),
        Entry("merge", "merge copies of a file into one", "file.merge", was=("merge",)),
        Entry("pack", "copy a database whole, safe while it is in use", "file.transfer", was=("pack",)),
        Entry("withdraw", "erase all that is a person's", "file.withdraw", was=("withdraw",)),
    ),
    examples="""\
  hitlab file where
  hitlab file pack copy.db
  hitlab file merge R1.db R2.db --db study.db
""",
)

TASKS = Noun(
    "tasks",
    "list and check tasks and personas, design a task",
    (
        Entry("list", "list the built-in tasks, or an environment's", "about"),
        Entry("check", "check task files", "about"),
        Entry("design", "draft, verify and freeze a task's design", "tasks.design", was=("author",)),
        Entry("personas", "list the built-in personas, or check profiles", "about", was=("personas",)),
    ),
    default="list",
    examples="""\
  hitlab tasks list
  hitlab tasks check mine.yaml
  hitlab tasks design usual_lunch --person D1
""",
)

SETTINGS = Noun(
    "settings",
    "show settings and keys; check and set up this machine",
    (
        Entry("show", "print each setting, its value and where it comes from", "settings.show"),
        Entry("keys", "list every key binding: its id, keys and action", "about", was=("keys",)),
        Entry("doctor", "check this machine, terminal and database", "settings.doctor", was=("doctor",)),
        Entry("scrcpy", "fetch scrcpy's server: fast pictures, any text", "devices", was=("device scrcpy",)),
        Entry(
            "completion", "print the script for completion in a shell (Tab)", "settings.completion", was=("completion",)
        ),
        Entry("schema", "print a JSON Schema of an input or output", "settings.schemas", was=("schema",)),
    ),
    default="show",
    bare="settings.show:print_own_values",
    examples="""\
  hitlab settings show                 and where each value comes from
  hitlab settings doctor
  hitlab settings schema task > task.schema.json
""",
)

COMMANDS = (
    Entry("demo", "run one episode on the embedded phone", "live"),
    Entry("live", "run a task: an agent works, a person answers", "live"),
    Entry("run", "run an agent over many tasks: passes, pass@k, cost", "batch"),
    Entry("record", "record a demonstration of your own", "record"),
    Entry("replay", "play a run back, step by step", "live"),
    Entry("import", "import recorded runs, of fifteen formats", "file.transfer"),
    Entry("export", "export whole runs into a folder", "file.transfer"),
    Entry("judge", "let a language model rate a study like one more rater", "judge"),
    Entry("agreement", "compute how far a study's raters agree, with n", "agreement"),
    Entry("report", "write a study's tables in its paper's form", "report"),
    RUNS,
    STUDY,
    LABELS,
    TASKS,
    SERVE,
    FILE,
    Entry("devices", "list the phones that adb sees", "devices"),
    SETTINGS,
)
"""Every word of the first level, in the order of `--help`.

Only the module of the typed command is imported. Its `add_PATH` defines the arguments: `add_study_new` those of
`study new`.
"""

HEADINGS = {"demo": "run and record", "judge": "judge and report", "runs": "commands with verbs (`hitlab runs --help`)"}
"""Headings in `--help`, by the first command below each."""

EARLIER = (
    Entry("traces", "list the runs in a database, in the form of earlier versions", "runs.list_runs"),
    Noun(
        "device",
        "fetch what a real phone needs",
        (Entry("scrcpy", "fetch scrcpy's server: fast pictures, any text", "devices:add_settings_scrcpy"),),
        examples="  hitlab device scrcpy\n",
    ),
)
"""Words of earlier versions whose form is not that of a word of today. They are not listed."""

SUCCESSORS = {"traces": "runs list", "device": "settings scrcpy"}
"""Words to type instead of `EARLIER`."""


def all_commands(words: tuple[Entry | Noun, ...] = COMMANDS, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Entry]]:
    """Yield each command with its words: `study kit export`."""
    for word in words:
        if isinstance(word, Noun):
            yield from all_commands(word.verbs, (*path, word.name))
        else:
            yield " ".join((*path, word.name)), word


@cache
def earlier_names() -> dict[str, str]:
    """Return the words to type now, by the words of earlier versions."""
    return {old: words for words, entry in all_commands() for old in entry.was}
