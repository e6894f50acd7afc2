"""The command schema: every input and output of hitlab as a JSON Schema."""

from __future__ import annotations

from typing import Any

import msgspec

from annotators.gold import GoldLine
from annotators.papers.marks import Marks
from annotators.plan import Plan
from lab.agents.process_lines import FromProgram, ToProgram
from lab.cli.about import KeyLine, PersonaLine, Places, TaskLine
from lab.cli.adjudicate import Row as AdjudicationRow
from lab.cli.adjudicate_output import Adjudications, CaseTold, GoldWritten, QueueTold
from lab.cli.agreement import CaseValue, StudyAgreement, StudyRaters
from lab.cli.answer import EndpointServed
from lab.cli.answer_acts import ReplyGiven
from lab.cli.answer_links import AnswerLinks
from lab.cli.answer_swap import AnswerSwap
from lab.cli.arguments import Arguments, Parser
from lab.cli.author import DesignLine, DesignShown, DesignWritten
from lab.cli.compare import Comparison
from lab.cli.completion import CompletionScript
from lab.cli.devices import DeviceLine, PhoneServed, ServerFetched
from lab.cli.doctor import Finding
from lab.cli.files import Exported, ImportResult, Packed
from lab.cli.fork import KinLine
from lab.cli.judge import JudgeReport, JudgeValidation
from lab.cli.judge_gate import GateReport
from lab.cli.labels import LabelList, PilotTold
from lab.cli.live import RunResult
from lab.cli.merge import MergeDone
from lab.cli.metrics import Measured
from lab.cli.output import Refused, print_json_lines, print_line, print_result
from lab.cli.past_sheets import PastSheets
from lab.cli.privacy import PrivacyDone, PrivacyLine, PrivacyShown
from lab.cli.protocols import ProtocolLine, ProtocolShown
from lab.cli.read import PicturesRead
from lab.cli.report import ReportWritten
from lab.cli.review import ReviewList, ReviewShown
from lab.cli.run_acts import AgentRenamed, RunsArchived, RunsTagged, TagLine
from lab.cli.runs import RunTable, Shown
from lab.cli.study_deal import RaterReleased, RaterReplaced, StudyArchived, StudyLocked
from lab.cli.study_extend import StudyExtended
from lab.cli.study_kits import KitMade, KitTaken
from lab.cli.study_links import StudyLinks
from lab.cli.study_play import PlayPrompt, StudyPlayed
from lab.cli.study_runs import RunsPlayed
from lab.cli.study_status import StudyShown, StudyStatus
from lab.cli.study_watch import StudiesWatched
from lab.cli.withdraw import Withdrawn
from lab.core.design import Parts
from lab.core.errors import LabError
from lab.core.playbook import PlaybookFile
from lab.core.protocol import Protocol
from lab.core.report import Report
from lab.core.run_records import TraceLine
from lab.core.settings import Settings
from lab.core.step import Action
from lab.core.study import StudyLine
from lab.core.suggestion import unknown_name
from lab.core.task import LogEntry, Task
from lab.core.trace import AnyEvent
from lab.runs.conversation_list import ConversationLine
from lab.runs.pass_rates import BatchResult
from lab.studies.judge_questions import JudgeEstimate, ShownQuestion
from lab.studies.label_import import LabelDone
from lab.studies.label_rows import LabelRow
from lab.studies.study_dealing import StudyDealt
from lab.studies.study_freezing import StudiesFrozen
from simulators.users.scripted import Script
from store.formats.jsonl.reader import RunFileLine


def schemas() -> dict[str, Any]:
    """Return the type of every input and output, by name."""
    return {
        "task": Task,
        "playbook": PlaybookFile,
        "log": list[LogEntry],
        "marks": Marks,
        "script": Script,
        "settings": Settings,
        "event": AnyEvent,
        "run-file": RunFileLine,
        "agent-reads": ToProgram,
        "agent-writes": FromProgram,
        "action": Action,
        "demo": RunResult,
        "live": RunResult,
        "run": BatchResult,
        "fork": RunResult,
        "answer-swap": AnswerSwap,
        "family": list[KinLine],
        "traces": list[TraceLine],
        "runs": RunTable,
        "rename-agent": AgentRenamed,
        "tag": RunsTagged,
        "tag-list": list[TagLine],
        "archive": RunsArchived,
        "restore": RunsArchived,
        "compare": Comparison,
        "show": Shown,
        "read": PicturesRead,
        "import": ImportResult,
        "metrics": Measured,
        "judge": JudgeReport,
        "judge-dry-run": JudgeEstimate,
        "judge-gate": GateReport,
        "judge-prompt": ShownQuestion,
        "judge-validation": JudgeValidation,
        "label-row": LabelRow,
        "label": LabelDone,
        "labels": LabelList,
        "labels-pilot": PilotTold,
        "labels-past": PastSheets,
        "adjudication-row": AdjudicationRow,
        "adjudicate": Adjudications,
        "adjudicate-list": QueueTold,
        "adjudicate-unit": CaseTold,
        "adjudicate-gold": GoldWritten,
        "raters": StudyRaters,
        "merge": MergeDone,
        "pack": Packed,
        "export": Exported,
        "review": ReviewShown,
        "review-list": ReviewList,
        "privacy": PrivacyDone,
        "privacy-show": PrivacyShown,
        "privacy-list": list[PrivacyLine],
        "withdraw": Withdrawn,
        "author": DesignShown,
        "author-list": list[DesignLine],
        "author-out": DesignWritten,
        "design": Parts,
        "protocol": Protocol,
        "protocols": list[ProtocolLine],
        "protocols-show": ProtocolShown,
        "tasks": list[TaskLine],
        "personas": list[PersonaLine],
        "where": Places,
        "keys": list[KeyLine],
        "doctor": list[Finding],
        "completion": CompletionScript,
        "answer": EndpointServed,
        "answer-list": list[ConversationLine],
        "answer-reply": ReplyGiven,
        "answer-links": AnswerLinks,
        "devices": list[DeviceLine],
        "device-scrcpy": ServerFetched,
        "phone": PhoneServed,
        "plan": Plan,
        "gold": GoldLine,
        "study-new": StudiesFrozen,
        "study-extend": StudyExtended,
        "study-deal": StudyDealt,
        "study-list": list[StudyLine],
        "study-status": StudyStatus,
        "study-watch": StudiesWatched,
        "study-show": StudyShown,
        "study-play": StudyPlayed,
        "study-play-prompt": PlayPrompt,
        "study-runs": RunsPlayed,
        "study-lock": StudyLocked,
        "study-archive": StudyArchived,
        "study-restore": StudyArchived,
        "study-replace": RaterReplaced,
        "study-release": RaterReleased,
        "study-links": StudyLinks,
        "study-kit": KitMade,
        "study-take": KitTaken,
        "agreement": StudyAgreement,
        "report": Report,
        "report-out": ReportWritten,
        "agreement-cases": list[CaseValue],
        "error": Refused,
    }


def names() -> list[str]:
    """Return the sorted names of all schemas."""
    return sorted([*schemas(), "persona"])


class SchemaArguments(Arguments):
    name: str | None


def add_schema(parser: Parser) -> None:
    parser.runs(schema, SchemaArguments)
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one; without it, the names")
    parser.json()
    parser.completes(name="schema")
    parser.examples(
        """\
  hitlab schema                        the names of all
  hitlab schema task > task.schema.json
"""
    )


def schema(args: SchemaArguments) -> int:
    """Print the JSON Schema of one input or output, or the list of names."""
    schema_types = schemas()
    if args.name is None:
        print_result(names(), lambda all_names: print_line("\n".join(all_names)), json=args.json)
        return 0
    if args.name == "persona":
        print_json_lines(_profile_schema())
    elif args.name in schema_types:
        schema = msgspec.json.schema(schema_types[args.name])
        if args.name in _FILES:
            _named_by_its_file(schema)
        print_json_lines({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": args.name} | schema)
    else:
        raise LabError("schema", unknown_name(args.name, names()), code=2)
    return 0


_FILES = ("task", "script")
"""Inputs whose `id` defaults to the file's name."""


# The reader fills in `id` before it decodes, so that the type requires what the file need not have.
def _named_by_its_file(schema: dict[str, Any]) -> None:
    struct = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    struct["required"] = [name for name in struct["required"] if name != "id"]
    if not struct["required"]:
        del struct["required"]


def _profile_schema() -> dict[str, Any]:
    """Return the schema of KnowU-Bench's profile, as far as hitlab requires it."""
    sections = ["locations", "digital_context", "habits", "preferences", "decision_criteria", "social_graph"]
    identity = {
        "type": "object",
        "properties": {"full_name": {"type": "string"}, "age": {"type": "integer"}, "occupation": {"type": "string"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "persona",
        "type": "object",
        "required": ["user_profile"],
        "properties": {
            "user_profile": {
                "type": "object",
                "required": ["identity"],
                "properties": {"identity": identity, **{name: {"type": "object"} for name in sections}},
            }
        },
    }
