"""The room Answer: what clients ask is read, answered by words, decisions, functions and scores, and kept."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from PIL import Image
from textual import events
from textual.pilot import Pilot

from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.run.step import Reply
from lab.core.run.trace import Trace
from lab.core.settings import Settings
from lab.core.task.task import Actor
from lab.runs.endpoint.conversation_intake import Intake, LastTurn
from lab.runs.endpoint.conversation_list import ConversationLine, conversations
from lab.runs.endpoint.conversation_run import close_conversation, give_reply
from lab.runs.endpoint.running_servers import RunningServer, server_notes
from screens.answer.answer import AnswerScreen
from screens.app import LabApp
from screens.dialogs import QuitScreen
from screens.navigation import Opening
from screens.play.lobby import LobbyScreen
from simulators.users.endpoint.chat_request import AnswerForm, ChatMessage, ChatRequest, Tool
from simulators.users.endpoint.place import EndpointPlace
from simulators.users.endpoint.request_kinds import judge_rules
from store.store import Store
from tests.answering import CONSENT, JUDGE, call, request
from tests.screens.resting import burst
from tests.screens.runs import painted
from tests.typed import KEPT, PASTED

Until = Callable[..., Awaitable[None]]
BASE = "http://127.0.0.1:8790/v1"
HERE = EndpointPlace(BASE)
SIZES = [(64, 18), (80, 24), (120, 40), (200, 60)]
TOOL = Tool(
    "set_data",
    "Turns mobile data on or off",
    {
        "type": "object",
        "properties": {"mode": {"enum": ["2g", "5g"]}, "on": {"type": "boolean"}, "note": {"type": "string"}},
        "required": ["on", "note"],
    },
)


class Client:
    """Requests as they come in at the endpoint, dealt to P07."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.intake = Intake(store, [Actor("human", "P07")], judge_rules())

    def ask(self, *texts: str, **more: Any) -> LastTurn:
        return self.take(request(*texts, **more))

    def take(self, asked: ChatRequest) -> LastTurn:
        return self.intake.receive(asked)

    def content(self, asked: LastTurn) -> str | None:
        """What the client is sent; None while nothing is."""
        self.intake.deliver_answers()
        return asked.answer.result().content if asked.answer.done() else None

    def trace(self, asked: LastTurn) -> Trace:
        return self.store.runs.trace(asked.turn.run)


@pytest.fixture
def client(store: Store) -> Client:
    return Client(store)


def opened(
    store: Store, seat: str = "participant", endpoint: EndpointPlace | None = HERE, locale: str = "en", **more: Any
) -> LabApp:
    settings = Settings(person="P07", seat=seat, locale=locale)  # type: ignore[arg-type]
    return LabApp(store, settings, Opening("answer", endpoint=endpoint, **more))


def room(app: LabApp) -> AnswerScreen:
    assert isinstance(app.screen, AnswerScreen)
    return app.screen


def open_at(app: LabApp, asked: LastTurn) -> Callable[[], bool]:
    """Whether a question is open, and a key can be meant for it."""

    def there() -> bool:
        here = room(app)
        return here.turn is not None and here.turn.question.id == asked.turn.question.id and ready(here)

    return there


def ready(here: AnswerScreen) -> bool:
    decides = here._question.has_class("-proposal")
    return here.focused not in (here._inbox, here._talk, here._brief) and (not decides or here._question._row.ready)


async def sent(pilot: Pilot[Any], client: Client, asked: LastTurn, until: Until) -> str:
    await until(pilot, lambda: client.content(asked) is not None)
    return client.content(asked) or ""


async def test_a_question_is_read_and_answered_and_others_that_wait_are_told_at_every_size(
    store: Store, client: Client, until: Until
) -> None:
    """The upper line says how many others wait, and for how long."""
    asked = client.ask("Which noodles?", system="You are Ann, who likes thin noodles.", session="one")
    app = opened(store)

    def waits(words: str) -> bool:
        return re.search(rf"{words}, \d+:\d\d", painted(app).splitlines()[0]) is not None

    async with app.run_test(size=SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: app.size == size and open_at(app, asked)() and BASE in painted(app))
            said = painted(app)
            assert "Which noodles?" in said
            assert "who likes thin noodles" in said
            assert "other" not in said.splitlines()[0]
        for name, words in (("two", "1 other waits"), ("three", "2 others wait")):
            client.ask(f"Question {name}?", session=name)
            for size in SIZES:
                await pilot.resize_terminal(*size)
                await until(pilot, lambda size=size, words=words: app.size == size and waits(words))
        await burst(pilot, *"thin ")
        app.post_message(events.Paste(PASTED))
        await pilot.press("enter")
        assert await sent(pilot, client, asked, until) == f"thin {KEPT}"
        await until(pilot, lambda: room(app).turn is None and waits("2 others wait"))
    reply = client.trace(asked).steps[0].reply
    assert reply is not None
    assert (reply.by.id, reply.edits) == ("P07", 0)
    assert reply.shown_at
    assert reply.first_key_at
    assert reply.shown_at <= reply.first_key_at <= (reply.sent_at or "")


async def test_what_is_unread_is_marked_and_the_longest_wait_comes_first(
    store: Store, client: Client, until: Until
) -> None:
    first, second, third = (client.ask(f"Question {name}?", session=name) for name in ("one", "two", "three"))
    app = opened(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, open_at(app, first))
        await until(pilot, lambda: painted(app).count("●") == 2 and "3 wait" in painted(app))
        await pilot.press(*"x", "enter")
        await sent(pilot, client, first, until)
        await until(pilot, lambda: room(app).turn is None)
        await pilot.press("ctrl+n")
        await until(pilot, open_at(app, second))
        await until(pilot, lambda: painted(app).count("●") == 1)
        await pilot.press("escape", "home", "down", "enter")
        await until(pilot, open_at(app, third))


async def test_what_was_ended_by_silence_is_told_to_whoever_had_it_open(
    store: Store, client: Client, until: Until
) -> None:
    asked = client.ask("Which noodles?")
    app = opened(store, endpoint=EndpointPlace(BASE, (), "2 h"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, open_at(app, asked))
        assert "ended when 2 h silent" in painted(app)
        client.intake.close_after = 0.0
        client.intake.close_silent()
        await until(pilot, lambda: any("of silence" in toast.message for toast in app._notifications))
        await until(pilot, lambda: room(app).turn is None)
        await until(pilot, lambda: "-- ended: closed after" in painted(app))


async def test_a_question_whose_client_left_is_told_last_and_in_no_count_and_may_be_answered(
    store: Store, client: Client, until: Until
) -> None:
    gone, here = (client.ask(f"Question {name}?", session=name) for name in ("gone", "here"))
    other = client.ask("Question other?", session="other")
    for asked in (gone, here, other):
        asked.join()
    gone.leave()
    client.intake.note = RunningServer(store.path, "endpoint", BASE)
    client.intake.watch()
    await until(None, lambda: any(note.left for note in server_notes(store.path, "endpoint")))
    app = opened(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: open_at(app, here)() and "client left 0:" in painted(app))
        said = painted(app)
        assert said.index("Question here?") < said.index("Question other?") < said.index("client left 0:")
        assert "2 wait " in said
        assert "1 other waits" in said
        await pilot.press(*"x", "enter")
        await sent(pilot, client, here, until)
        await pilot.press("ctrl+n")
        await until(pilot, open_at(app, other))
        other.leave()
        await until(pilot, lambda: "the client left 0:" in painted(app) and "0 wait " in painted(app))
        other.join()
        await until(pilot, lambda: "the client left" not in painted(app) and "1 waits" in painted(app))
        await pilot.press(*"y", "enter")
        await sent(pilot, client, other, until)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: open_at(app, gone)() and "the client left 0:" in painted(app))
        await pilot.press(*"z", "enter")
        assert await sent(pilot, client, gone, until) == "z"
    client.intake.close()


GUIDELINES = "# User Simulation Guidelines\n" + "".join(f"- Rule {at} for a language model.\n" for at in range(40))
MIA = "Persona:\n\tYou are Mia, short with words.\nInstructions:\n" + "\n".join(
    f"\tFact {at} of hers." for at in range(30)
)
BRIEFS = {
    "tau2-bench": (f"{GUIDELINES}\n<scenario>\n{MIA}\n</scenario>", "You are Mia, short with words."),
    "KnowU-Bench": (
        f"Context: ### USER PERSONA\n{MIA}\n\n### INSTRUCTION\n{GUIDELINES[30:]}\n### OUTPUT FORMAT\nplain",
        "You are Mia, short with words.",
    ),
    "MobileWorld": (
        f"{'You act as the user of a phone. ' * 30}The task goal is: buy milk. {'Be polite. ' * 90}",
        "buy milk",
    ),
    "tau-bench": (f"{GUIDELINES}Instruction: You are Mia, short with words.\n{GUIDELINES}", "You are Mia, short"),
    "sections": (
        f"{GUIDELINES}## Manners\nBe kind.\n## What you want\nYou want milk.\n## Output\nplain",
        "You want milk.",
    ),
    "one part": (f"You are Mia, short with words.\n{MIA[50:]}", "You are Mia, short with words."),
    "hostile": (
        "<scenario>\n" * 900 + "[/] You are Mia.\n" + "#" * 9000 + "\n" * 90 + "</scenario>",
        "[/] You are Mia",
    ),
}


@pytest.mark.parametrize("name", BRIEFS)
async def test_the_brief_opens_at_the_persons_own_part_and_a_line_of_it_is_always_in_view(
    store: Store, client: Client, until: Until, name: str
) -> None:
    """At the first question, at later ones, beside functions, at any size; and where it was left it is again."""
    system, own = BRIEFS[name]
    asked = client.ask("Which one?", system=system, session="one")
    app = opened(store)

    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: open_at(app, asked)() and own in painted(app))
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: app.size == size and own in painted(app))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.size == (80, 24) and own in painted(app))
        await pilot.press(*"x", "enter")
        await sent(pilot, client, asked, until)
        again = client.ask("Which one?", "x", "And then? " * 60, system=system, session="one", tools=(TOOL,))
        await until(pilot, lambda: open_at(app, again)() and "And then?" in painted(app) and own in painted(app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "Turns mobile data" in painted(app) and own in painted(app))


async def test_a_brief_that_was_read_on_stays_there_from_turn_to_turn_and_while_others_are_read(
    store: Store, client: Client, until: Until
) -> None:
    system = BRIEFS["tau2-bench"][0]
    asked = client.ask("Which one?", system=system, session="one")
    other = client.ask("Another?", system="You are Ben.\n" * 90, session="two")
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: open_at(app, asked)() and "You are Mia" in painted(app))
        await pilot.press("ctrl+b")
        await until(pilot, lambda: room(app).focused is room(app)._brief)
        await burst(pilot, *["down"] * 12)
        await pilot.press("ctrl+b")
        await until(pilot, lambda: "Fact 10 of" in painted(app) and "You are Mia" not in painted(app))
        await pilot.press(*"x", "enter")
        await sent(pilot, client, asked, until)
        again = client.ask("Which one?", "x", "And then?", system=system, session="one")
        await until(pilot, lambda: open_at(app, again)() and "Fact 10 of" in painted(app))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: open_at(app, other)() and "You are Ben" in painted(app))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: open_at(app, again)() and "Fact 10 of" in painted(app))


async def test_what_stands_above_a_question_says_whose_words_they_are(
    store: Store, client: Client, until: Until
) -> None:
    """The agent asks, a function gave it back, or nobody said anything; and lists tell conversations by first words."""
    asked = client.ask("Turn on [b]data[/b], would you?", tools=(Tool("look"),))
    app = opened(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: open_at(app, asked)() and "The agent asks" in painted(app))
        await pilot.press("ctrl+t", "enter")
        await until(pilot, lambda: "It takes no arguments" in painted(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: client.content(asked) is not None)
        called = (*request("Turn on [b]data[/b], would you?").messages, ChatMessage("assistant", calls=(call("look"),)))
        result = client.take(ChatRequest((*called, ChatMessage("tool", "data is off", name="look"))))
        await until(pilot, lambda: open_at(app, result)() and "What your function call gave" in painted(app))
        assert "The agent asks" not in painted(app)
        await pilot.press(*"x", "enter")
        await sent(pilot, client, result, until)
        await until(pilot, lambda: re.search("·.*Turn on .b.data", painted(app)) is not None)
        await until(pilot, lambda: re.search(r"result +\d\d:\d\d:\d\d", painted(app)) is not None)
        nothing = client.take(ChatRequest(request(system="You begin.").messages, session="two"))
        await until(pilot, lambda: "1 other waits" in painted(app) or "1 waits" in painted(app))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: open_at(app, nothing)() and "Nothing is asked: you speak" in painted(app))
    assert client.trace(asked).task.id.startswith("turn-on-b-data-b-would-you-")
    assert client.trace(asked).task.display_name == "Turn on b data b would you"


async def test_the_room_speaks_chinese(store: Store, client: Client, until: Until) -> None:
    asked = client.ask("您想吃什么？", tools=(TOOL,), system="End with ###STOP###.")
    client.ask("第二个问题？", session="two")
    app = opened(store, locale="zh")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, open_at(app, asked))
        screen = painted(app)
        for words in ("您的角色", "对话列表", "2 个在等", "助手提问", "另有 1 个在等", "可以调用 1 个函数", "结束对话"):
            assert words in screen.replace("\u200b", "")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "调用" in painted(app) and "on *" in painted(app))
        await pilot.press("escape", *"面", "enter")
        assert await sent(pilot, client, asked, until) == "面"
        await until(pilot, lambda: "按 ctrl+n 打开" in painted(app))


async def test_an_endpoint_is_started_from_the_list_and_a_taken_port_is_a_sentence(store: Store, until: Until) -> None:
    people: list[str] = []

    def serve_endpoint(person: str) -> EndpointPlace:
        people.append(person)
        if len(people) == 1:
            raise LabError("answer", "127.0.0.1:8790 cannot be had.")
        return HERE

    app = opened(store, "developer", None, serve_endpoint=serve_endpoint)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "starts an endpoint here" in painted(app))
        await pilot.press("s")
        await until(pilot, lambda: any("cannot be had" in toast.message for toast in app._notifications))
        await pilot.press("s")
        await until(pilot, lambda: f"P07 answers at {BASE}" in painted(app))
        await pilot.press("s")
        await until(pilot, lambda: "starts an endpoint" not in painted(app))
    assert people == ["P07", "P07"]


async def test_a_proposal_is_decided_by_a_key_that_sends_the_tag(store: Store, client: Client, until: Until) -> None:
    """A tag in a remark is refused, and the remark stays."""
    asked = client.ask("Shall I turn it on?", system=CONSENT)
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, asked))
        assert "no offer" not in painted(app)
        await pilot.press("3", "o", "enter")  # neither a third choice, nor one without a mark
        await until(pilot, lambda: "Nothing is decided" in painted(app))
        await pilot.press("tab")
        await burst(pilot, *"<decision>")
        await pilot.press("escape")
        await pilot.press("a")
        await until(pilot, lambda: any("holds a tag" in toast.message for toast in app._notifications))
        await until(pilot, open_at(app, asked))
        assert client.content(asked) is None
        assert "<decision>" in painted(app)
        await pilot.press("tab")
        await burst(pilot, *["backspace"] * len("<decision>"), *"accept")
        await pilot.press("enter")
        assert client.content(asked) is None
        await pilot.press("r")
        assert await sent(pilot, client, asked, until) == "accept\n<decision>reject</decision>"
    reply = client.trace(asked).steps[0].reply
    assert reply is not None
    assert (reply.decision, reply.text) == ("reject", "accept")


async def test_a_function_is_called_by_a_form_of_its_schema(store: Store, client: Client, until: Until) -> None:
    """One alone is offered where the client takes one."""
    asked = client.ask("Turn on data.", tools=(TOOL, Tool("check")), session="one")
    alone = client.ask("Turn on data.", tools=(Tool("check"), Tool("reboot")), one_call=True, session="two")
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, asked))
        await until(pilot, lambda: "2 functions can be called" in painted(app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "Turns mobile data on or off" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: "on *" in painted(app) and room(app).focused is not None)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "field on: is required" in painted(app))
        await pilot.press("enter", "down", "enter", "tab")
        await burst(pilot, *"now")  # a choice opens, its first is taken
        await until(pilot, lambda: "true" in painted(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: client.content(asked) is not None and room(app).turn is None)
        await pilot.press("ctrl+n")
        await until(pilot, open_at(app, alone))
        await pilot.press("ctrl+t", "enter")
        await until(pilot, lambda: "It takes no arguments" in painted(app))
        assert "another" not in painted(app)
        await pilot.press("ctrl+l", "ctrl+s")
        await until(pilot, lambda: client.content(alone) is not None)
    assert [call.name for call in alone.answer.result().calls] == ["check"]
    answer = asked.answer.result()
    assert [call.name for call in answer.calls] == ["set_data"]
    assert json.loads(answer.calls[0].arguments) == {"on": True, "note": "now"}


async def test_several_functions_are_filled_in_changed_and_sent_together(
    store: Store, client: Client, until: Until
) -> None:
    asked = client.ask("Turn on data.", tools=(TOOL, Tool("check"), Tool("reboot")))
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, asked))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "3 functions can be called" in painted(app) and "Turns mobile" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: "on *" in painted(app))
        await pilot.press("enter", "down", "enter", "tab")
        await burst(pilot, *"now")
        await pilot.press("ctrl+l")
        await until(pilot, lambda: "1 call waits" in painted(app) and '"note": "now"' in painted(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "It takes no arguments" in painted(app))
        await pilot.press("ctrl+l")
        await until(pilot, lambda: "2 calls wait" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: "It takes no arguments" in painted(app))
        await pilot.press("escape")  # the form that was open is left; the calls stay
        await until(pilot, lambda: "2 calls wait" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: "2 calls are filled in" in painted(app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "2 calls wait" in painted(app))
        await pilot.press("shift+tab", "down", "x")
        await until(pilot, lambda: "1 call waits" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: "note *" in painted(app) and "now" in painted(app))
        await pilot.press("tab")
        await burst(pilot, *"here")
        await pilot.press("ctrl+l")
        await until(pilot, lambda: '"note": "here"' in painted(app))
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "reboot" in painted(app) and "It takes no arguments" in painted(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: client.content(asked) is not None)
    calls = asked.answer.result().calls
    assert [call.name for call in calls] == ["set_data", "reboot"]
    assert json.loads(calls[0].arguments)["on"] is True
    assert len({call.id for call in calls}) == 2


async def test_a_client_that_takes_json_is_answered_by_a_form_of_it(store: Store, client: Client, until: Until) -> None:
    """Words that are none are refused while the question stands, with the words."""
    schema = {
        "type": "object",
        "properties": {"decision": {"enum": ["yes", "no"]}, "why": {"type": "string"}},
        "required": ["decision", "why"],
    }
    asked = client.ask("Shall I?", form=AnswerForm("vote", schema))
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: open_at(app, asked)() and "ctrl+t opens a form of it" in painted(app))
        await burst(pilot, *"yes")
        await pilot.press("enter")
        await until(pilot, lambda: any("is no JSON" in toast.message for toast in app._notifications))
        await until(pilot, lambda: open_at(app, asked)() and " yes" in painted(app))
        assert client.content(asked) is None
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "decision *" in painted(app) and "why *" in painted(app))
        await pilot.press("enter", "down", "enter", "tab")
        await burst(pilot, *"It is.")
        await pilot.press("ctrl+s")
        assert json.loads(await sent(pilot, client, asked, until)) == {"decision": "yes", "why": "It is."}
    reply = client.trace(asked).steps[0].reply
    assert reply is not None
    assert not reply.calls


async def test_the_end_is_written_by_a_key(store: Store, client: Client, until: Until) -> None:
    asked = client.ask("Anything else?", system="End with ###STOP### or ###TRANSFER###.")
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, asked))
        await burst(pilot, *"No.")
        await pilot.press("ctrl+g", "ctrl+g", "ctrl+g", "enter")
        assert await sent(pilot, client, asked, until) == "No. ###STOP###"
        await until(pilot, lambda: client.trace(asked).status == "completed")


async def test_what_a_key_of_the_list_opens_comes_into_view(store: Store, client: Client, until: Until) -> None:
    """Nothing is written, called or sent on a pane that the list or the functions stand in the place of."""
    system = "You are Ann. End with ###STOP###."
    asked = client.ask("Anything else?", system=system, tools=(TOOL, Tool("check")))
    app = opened(store)

    def listed() -> bool:
        return "Conversations" in painted(app) and "The agent asks" not in painted(app)

    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, asked))
        for key, words in (("ctrl+t", "Functions"), ("ctrl+b", "You are Ann"), ("ctrl+g", "The agent asks")):
            await pilot.press("escape")
            await until(pilot, listed)
            await pilot.press(key)
            await until(pilot, lambda words=words: words in painted(app) and "Conversations" not in painted(app))
            if key != "ctrl+g":
                await pilot.press("escape")
                await until(pilot, lambda: "The agent asks" in painted(app) and open_at(app, asked)())
        await until(pilot, lambda: "###STOP###" in painted(app).partition("The agent asks")[2].partition("╰")[0])
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "Functions" in painted(app) and "The agent asks" not in painted(app))
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "The agent asks" in painted(app) and open_at(app, asked)())
        await pilot.press("enter")
        assert await sent(pilot, client, asked, until) == "###STOP###"


async def test_the_longest_wait_is_never_what_was_answered_while_the_list_was_read(
    store: Store, client: Client, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, other = (client.ask(f"Question {name}?", session=name) for name in ("one", "two"))
    reads = []

    def read(*of: Any, **more: Any) -> list[ConversationLine]:
        lines = conversations(*of, **more)
        reads.append(lines)
        if len(reads) == 2:  # the look at what was opened
            give_reply(store, asked.turn, Reply(asked.turn.question.id, "thin", Actor("human", "P07")))
        return lines

    monkeypatch.setattr("screens.answer.answer.conversations", read)
    monkeypatch.setattr("screens.answer.answer._LOOKS", 3600)
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(reads) == 2 and room(app)._trace is not None)
        await pilot.press("ctrl+n")
        assert room(app).run == other.turn.run


@pytest.mark.parametrize("is_closed", [False, True])
async def test_where_the_list_is_out_of_view_no_key_ends_what_stands_in_it(
    store: Store, client: Client, until: Until, is_closed: bool
) -> None:
    """The answer of what was open is sent, or silence ended it; another conversation waits below the unseen cursor."""
    asked = client.ask("Which noodles?", session="one")
    other = client.ask("Which day?", session="two")
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, asked))
        if is_closed:
            close_conversation(store, asked.turn.run, Actor("human", "P07"), silence="2 h")
        else:
            await pilot.press("x", "enter")
        await until(pilot, lambda: room(app).turn is None and "Conversations" not in painted(app))
        await until(pilot, lambda: "Longest wait" in painted(app) and "End it" not in painted(app))
        await pilot.press("x", "escape")
        await until(pilot, lambda: "Conversations" in painted(app))
        await pilot.press("ctrl+n")
        await until(pilot, open_at(app, other))


async def test_a_judges_request_is_a_sheet_of_a_score_and_a_reason(store: Store, client: Client, until: Until) -> None:
    asked = client.ask("Rate this run.", system=JUDGE)
    app = opened(store)
    async with app.run_test(size=(64, 18)) as pilot:
        await until(pilot, open_at(app, asked))
        await pilot.press(*"7", "enter")
        await until(pilot, lambda: "from 0 to 1" in painted(app))
        await pilot.press("backspace")
        await burst(pilot, *"0.75")
        await pilot.press("enter")
        await burst(pilot, *"3 of 4")
        await pilot.press("enter")
        assert await sent(pilot, client, asked, until) == "<think>\n3 of 4\n</think>\n<score>\n0.75\n</score>"


async def test_a_score_and_calls_are_there_again_after_another_conversation(
    store: Store, client: Client, until: Until
) -> None:
    judged = client.ask("Rate this run.", system=JUDGE)
    called = client.ask("Turn on data.", tools=(Tool("check"), Tool("reboot")))
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, judged))
        await burst(pilot, *"0.75")
        await pilot.press("enter")
        await burst(pilot, *"3 of 4", "ctrl+n")
        await until(pilot, open_at(app, called))
        await pilot.press("ctrl+t", "enter")
        await until(pilot, lambda: "It takes no arguments" in painted(app))
        await pilot.press("ctrl+l")
        await until(pilot, lambda: "1 call waits" in painted(app))
        await pilot.press("ctrl+n")
        await until(pilot, open_at(app, judged))
        assert "0.75" in painted(app)
        assert "3 of 4" in painted(app)
        await pilot.press("ctrl+n")
        await until(pilot, open_at(app, called))
        await until(pilot, lambda: "1 call is filled in" in painted(app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "1 call waits" in painted(app))


async def test_a_picture_of_the_request_is_drawn_beside_the_words(store: Store, client: Client, until: Until) -> None:
    data = io.BytesIO()
    Image.new("RGB", (30, 60), "red").save(data, "PNG")
    bare = request("What is this?")
    last = bare.messages[-1]._replace(pictures=(Blob(data.getvalue(), "image/png"),))
    asked = client.take(bare._replace(messages=(*bare.messages[:-1], last)))
    app = opened(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, open_at(app, asked))
        await until(pilot, lambda: room(app)._picture.display and room(app)._picture.settled)
        assert "Picture" in painted(app)


async def test_what_is_typed_and_unsent_is_there_again(store: Store, client: Client, until: Until) -> None:
    asked = client.ask("Which noodles?")
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, asked))
        await burst(pilot, *"thi")
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, asked))
        await until(pilot, lambda: "thi" in painted(app))
        await pilot.press("n", "enter")
        assert await sent(pilot, client, asked, until) == "thin"


async def test_what_is_typed_stays_in_its_conversation_however_soon_another_is_opened(
    store: Store, client: Client, until: Until
) -> None:
    first, second = (client.ask(f"Question {name}?", session=name) for name in ("one", "two"))
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, open_at(app, first))
        await burst(pilot, *"thin", "ctrl+n")
        await until(pilot, open_at(app, second))
        await pilot.press("ctrl+n")
        await until(pilot, open_at(app, first))
        await until(pilot, lambda: "thin" in painted(app))
    assert store.runs.draft(second.turn.run, first.turn.question.id) == ""


async def test_a_new_question_of_the_open_conversation_comes_up_by_itself_and_it_is_ended_only_after_one(
    store: Store, client: Client, until: Until
) -> None:
    asked = client.ask("Which noodles?")
    app = opened(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, open_at(app, asked))
        await burst(pilot, *"thin")
        await pilot.press("enter")
        await sent(pilot, client, asked, until)
        again = client.ask("Which noodles?", "thin", "How many [b]portions[/b]?")
        await until(pilot, open_at(app, again))
        said = painted(app)
        assert "[b]portions[/b]" in said
        assert said.index("Which noodles?") < said.index("thin")
        await pilot.press("escape", "x")
        await until(pilot, lambda: "client gets an error" in painted(app))
        await pilot.press("escape")
        assert client.trace(asked).status == "open"
        await until(pilot, lambda: isinstance(app.screen, AnswerScreen))
        await pilot.press("x", "enter")
        await until(pilot, lambda: client.trace(asked).status == "stopped")
        await until(pilot, lambda: "Nothing was asked of P07 yet" in painted(app))


async def test_a_participant_works_with_it_alone_and_sees_nothing_of_others_and_a_rater_has_none(
    store: Store, until: Until
) -> None:
    other = Intake(store, [Actor("human", "P08")], judge_rules())
    other.receive(request("A secret question?"))
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Nothing was asked of P07 yet" in painted(app))
        assert "secret" not in painted(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, LobbyScreen))
    with pytest.raises(Exception, match="not there for the seat rater"):
        opened(store, seat="rater")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (170, 50)], ids=str)
async def test_where_nothing_was_asked_no_pane_stands_empty(
    store: Store, client: Client, until: Until, size: tuple[int, int]
) -> None:
    app = opened(store)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "What a client asks stands here." in painted(app))
        assert "Brief" not in painted(app)
        assert "Dialogue" not in painted(app)
        client.ask("Which noodles?")
        await until(pilot, lambda: "Brief" in painted(app) and "Which noodles?" in painted(app))


async def test_home_and_the_palette_lead_there(store: Store, client: Client, until: Until) -> None:
    app = LabApp(store, Settings(person="P07"), Opening("home"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Runs" in painted(app))
        await pilot.press("A")
        await until(pilot, lambda: "Nothing was asked of P07 yet" in painted(app))
        await pilot.press("f2")
        await until(pilot, lambda: app.current_mode == "home")
        client.ask("Which noodles?")
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert "Go to Answer" in titles
        app.action_show("answer")
        await until(pilot, lambda: "Which noodles?" in painted(app))


@pytest.mark.parametrize("size", SIZES)
async def test_what_was_said_before_a_first_question_is_painted_and_no_line_is_promised(
    store: Store, client: Client, until: Until, size: tuple[int, int]
) -> None:
    """A client that begins with the person's own words asks nothing yet: no key leads to further lines."""
    begun = (*request(system="You are Ann.").messages, ChatMessage("assistant", "Lunch before one, please."))
    asked = client.take(ChatRequest(begun))
    app = opened(store)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: open_at(app, asked)() and "you speak" in painted(app))
        await until(pilot, lambda: "Lunch before one, please." in painted(app))
        assert "more" not in painted(app)
        await pilot.press(*"Now", "enter")
        await sent(pilot, client, asked, until)
        await until(pilot, lambda: "Now" in painted(app))
        assert re.search(r"agent +\d\d:\d\d", painted(app)) is None


async def test_a_decision_that_a_prompt_writes_in_two_tags_is_one_key(
    store: Store, client: Client, until: Until
) -> None:
    system = "Say <decision>accept</decision> or <decision>reject</decision>."
    asked = client.ask("I order the salad. Shall I?", system=system)
    app = opened(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: open_at(app, asked)() and "accept it" in painted(app))
        await pilot.press("r")
        assert "<decision>reject</decision>" in await sent(pilot, client, asked, until)


async def test_home_answers_a_conversation_and_resumes_none(store: Store, client: Client, until: Until) -> None:
    client.ask("Which size?")
    app = LabApp(store, Settings(bell=False, person="P07"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Enter: replay this conversation   A: answer what waits" in painted(app))
        assert "resume" not in painted(app)
        await pilot.press("enter")
        await until(pilot, lambda: "Replay" in painted(app) and "Which size?" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: "A: answer what waits" in painted(app))
        await pilot.press("A")
        await until(pilot, lambda: "The agent asks" in painted(app))


@pytest.mark.parametrize("waits", [0, 1, 2])
async def test_quitting_says_how_many_clients_wait_and_asks_once(
    store: Store, client: Client, until: Until, waits: int
) -> None:
    for number in range(waits):
        client.ask(f"Where to, {number}?")
    app = opened(store, seat="developer")
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, AnswerScreen))
        await pilot.press("ctrl+q")
        if waits:
            words = "1 client waits" if waits == 1 else "2 clients wait"
            await until(pilot, lambda: isinstance(app.screen, QuitScreen) and words in painted(app))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, AnswerScreen))
            assert app.is_running
            await pilot.press("ctrl+q", "enter")
        await until(pilot, lambda: not app.is_running)
