"""The words of the commands that run an agent, or go on from a run: demo, live, replay, run, fork, family."""

from __future__ import annotations

from lab.options.common import Commands, breaks, command, json, on_phone, seconds, share, window


def add(commands: Commands) -> None:
    """Adds them."""
    _runs(commands)
    _batch(commands)
    _forks(commands)


def _runs(commands: Commands) -> None:
    demo = command(commands, "demo", "lab.commands.runs:demo", "run one episode on the embedded phone")
    window(demo)
    demo.add_argument("--headless", action="store_true", help="no screen: a script answers; print the result")
    json(demo)

    live = command(commands, "live", "lab.commands.runs:live", "run a task: an agent works, a person answers")
    live.add_argument("task", nargs="?", metavar="TASK", help="a built-in task's name or a task file")
    live.add_argument("--resume", metavar="ID", help="go on with an open run: phone, dialogue and draft as they were")
    live.add_argument(
        "--agent", metavar="NAME", help="rule (default), model:NAME, model+memory:NAME, process:COMMAND, recorded:ID"
    )
    live.add_argument("--user", metavar="WHO", help="human (default on a screen), script, script:FILE, or model:NAME")
    live.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    live.add_argument("--log", choices=("clean", "noise", "none"), help="which history the agent sees")
    live.add_argument("--gate", choices=("pass", "ask"), help="ask: each action waits for your word")
    live.add_argument("--seat", choices=("participant", "developer"), help="who sits here, and so what is shown")
    live.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    window(live)
    live.add_argument("--no-mirror", action="store_true", help="the person does not see the phone (recorded)")
    on_phone(live)
    live.add_argument("--seed", type=int, metavar="N", help="shuffles the phone's menus and lists (default 0)")
    live.add_argument("--vary", type=int, metavar="N", help="the task in another world: names and prices by this seed")
    live.add_argument("--pace", type=seconds, metavar="S", help="least seconds between two turns")
    live.add_argument("--headless", action="store_true", help="no screen; print the result")
    breaks(live)
    output = live.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print exactly one JSON document")
    output.add_argument("--events", action="store_true", help="print each event as a JSON line after its commit")

    replay = command(commands, "replay", "lab.commands.runs:replay", "play a run back, step by step")
    window(replay)
    replay.add_argument("run_id", metavar="ID[@STEP]", help="a run's id or its beginning, and the step to open at")


def _batch(commands: Commands) -> None:
    run = command(commands, "run", "lab.commands.batch:run", "run an agent over many tasks: passes, pass@k, cost")
    run.add_argument("tasks", nargs="*", metavar="TASK", help="built-in tasks' names or task files")
    run.add_argument("--all", action="store_true", help="every built-in task")
    kinds = ("general", "personalized", "proactive")
    run.add_argument("--kind", dest="kinds", action="append", choices=kinds, help="only these (may be given again)")
    run.add_argument(
        "--agent",
        default="rule",
        metavar="NAME",
        help="rule (default), model:NAME, model+memory:NAME, process:COMMAND, recorded:ID",
    )
    run.add_argument(
        "--user", default="script", metavar="WHO", help="script (default: the task's own), script:FILE, or model:NAME"
    )
    run.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    run.add_argument("--log", choices=("clean", "noise", "none"), help="which history the agent sees")
    run.add_argument("--attempts", type=int, default=1, metavar="K", help="runs per task (default 1)")
    run.add_argument("--until-pass", action="store_true", help="no more attempts at a task once one passed")
    on_phone(run)
    run.add_argument("--seed", type=int, metavar="N", help="shuffles the phone's menus and lists (default 0)")
    run.add_argument("--vary", type=int, metavar="N", help="the tasks in another world: names and prices by this seed")
    run.add_argument("--fail-under", type=share, metavar="X", help="exit 1 where pass@K is under X (0 to 1)")
    json(run)


def _forks(commands: Commands) -> None:
    fork = command(commands, "fork", "lab.commands.debugging:fork", "go on from a step of a run in another way")
    fork.add_argument("place", metavar="ID@STEP", help="a run, and the step (from 1) that is to go otherwise")
    fork.add_argument("--say", metavar="TEXT", help="another reply to the question of that step")
    decision = fork.add_mutually_exclusive_group()
    decision.add_argument("--accept", dest="decision", action="store_const", const="accept", help="accept the proposal")
    decision.add_argument("--reject", dest="decision", action="store_const", const="reject", help="reject the proposal")
    fork.add_argument("--action", metavar="JSON", help="another action, as `hitlab schema action` says")
    fork.add_argument("--agent", metavar="NAME", help="another agent, which proposes from that step on")
    fork.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    fork.add_argument("--log", choices=("clean", "noise", "none"), help="another history for the agent to see")
    fork.add_argument("--user", metavar="WHO", help="who answers from then on: human, script[:FILE] or model:NAME")
    fork.add_argument("--gate", choices=("pass", "ask"), help="ask: each action waits for your word")
    fork.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    fork.add_argument("--pace", type=seconds, metavar="S", help="least seconds between two turns")
    fork.add_argument("--headless", action="store_true", help="no screen; print the result")
    breaks(fork)
    json(fork)

    family = command(commands, "family", "lab.commands.debugging:family", "list the runs forked from one another")
    family.add_argument("run_id", metavar="ID", help="any run of the family: its id or its beginning")
    json(family)
