"""The one place that asks a language model: text and pictures in, text and what it cost out, with patience and limits.

litellm speaks to the providers. It is loaded with the first question, told to fetch no price list, read no `.env`
and print nothing; the only network it then uses is the model's own.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import logging
import math
import os
import random
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypeVar

from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.run_records import Blob
from lab.core.seams import WaitCancelled
from lab.core.settings import Settings
from lab.core.step import Usage
from lab.llm.attempt import KEYS, CallResult, NoKey, TooLate, failed, without_secrets
from lab.llm.streamed_answer import STREAMED, CutStream, whole_answer

T = TypeVar("T")

_POLL = 0.05
"""Seconds between two looks at `stop`."""
_GRACE = 1.0
"""Seconds after its own timeout that a try is left to say so itself."""
_LONGEST_PAUSE = 30.0
OPENAI_PROVIDERS = ("openai", "hosted_vllm", "litellm_proxy")
"""Providers that are sent OpenAI's chat completions as they are, in batches, too."""
BATCH_SHARE = 0.5
"""What a question in a batch costs, of one alone."""


class Message(NamedTuple):
    """One turn of a conversation: texts and pictures, in order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Blob, ...]


class ModelAnswer(NamedTuple):
    """What the model said, and what it cost with all its tries."""

    text: str
    usage: Usage


class NoModelAnswer(LabError):
    """The model gave no answer; `usage` is what was spent in trying."""

    usage: Usage = Usage(tries=0)


class ModelTerms(NamedTuple):
    """How a model is asked. `seconds` bounds one answer with all its tries and pauses, `timeout` one try.

    `price_in` and `price_out` are US dollars per million tokens, None to take litellm's own list.
    """

    base: str = ""
    key_env: str = ""
    timeout: float = 120.0
    seconds: float = 300.0
    tries: int = 5
    tokens: int = 4096
    temperature: float | None = 0.0
    price_in: float | None = None
    price_out: float | None = None
    pause: float = 1.0
    """Seconds before the second try; each further pause is twice as long."""
    stream: bool = False
    """Whether an answer comes in pieces; it is used only when it is whole."""


def terms(settings: Settings) -> ModelTerms:
    """The terms that a person has set."""
    return ModelTerms(
        base=settings.model_base,
        key_env=settings.model_key_env,
        timeout=settings.model_timeout,
        seconds=settings.model_seconds,
        tries=settings.model_tries,
        tokens=settings.model_tokens,
        temperature=settings.model_temperature if settings.model_temperature >= 0 else None,
        price_in=settings.model_price_in,
        price_out=settings.model_price_out,
        stream=settings.model_stream,
    )


class Llm:
    """One model by litellm's name for it (`openai/gpt-4.1-mini`), asked on the same terms each time.

    With a `base` of one's own, a name that litellm does not know is taken for one of an OpenAI-compatible server.
    Keys are read from the environment when a question is asked, and stand in nothing that comes back.
    """

    def __init__(self, model: str, on: ModelTerms | None = None) -> None:
        self.model = model
        self.terms = on or ModelTerms()

    def check(self) -> None:
        """Raises `LabError` where its name is no model's, or its key is plainly missing; loads nothing for that."""
        title = f"model {self.model}"
        if "://" in self.model or not self.model.strip():
            raise LabError(title, "is no name of a model", "An address goes into the setting model_base.", code=2)
        try:
            _key(self.terms, self.model.partition("/")[0])
        except NoKey as missing:
            raise LabError(title, f"cannot be asked: {missing}.", KEYS) from missing

    def check_known(self) -> None:
        """Raises `LabError` where nobody offers a model of that name; a server of one's own may offer any."""
        if not self.terms.base and _provider(_litellm(), self.model) is None:
            hint = "Write PROVIDER/NAME, as in openai/NAME, or set model_base to a server of your own."
            raise LabError(f"model {self.model}", "is no name of a model that litellm knows.", hint, code=2)

    def load(self, stop: threading.Event) -> ModuleType:
        """Loads litellm, which takes seconds in a new process; `WaitCancelled` soon after `stop` is set."""
        return _litellm() if "litellm" in sys.modules else _away(_litellm, stop, None)

    def ask(
        self, messages: Sequence[Message], stop: threading.Event, schema: Mapping[str, Any] | None = None
    ) -> ModelAnswer:
        """The model's answer; `WaitCancelled` soon after `stop` is set, `NoModelAnswer` where it gives none.

        `schema` is a JSON Schema of the answer, which is told to models that keep to one.
        """
        result = self.patiently(
            lambda litellm, seconds: self._call(litellm, messages, seconds, schema), self._read, stop
        )
        return ModelAnswer(result.text, result.usage)

    def embed(self, texts: Sequence[str], stop: threading.Event) -> list[list[float]]:
        """A vector for each text, of an embedding model; raises as `ask` does."""
        result = self.patiently(
            lambda litellm, seconds: self._embedding(litellm, texts, seconds),
            lambda response: self._vectors(response, len(texts)),
            stop,
        )
        return result.vectors

    def patiently(
        self,
        call: Callable[[ModuleType, float], Any],
        read: Callable[[Any], CallResult],
        stop: threading.Event,
        tries: int = 0,
    ) -> CallResult:
        """The first try that came to something, with what all of them cost; `NoModelAnswer` where none did.

        `call` is given litellm and the seconds that it has; `tries` bounds them, where not those of the terms do.
        """
        litellm = self.load(stop)
        began = time.monotonic()
        usage = Usage(tries=0)
        while True:
            seconds_left = min(self.terms.timeout, self.terms.seconds - (time.monotonic() - began))
            result = self._try(partial(call, litellm, seconds_left), read, stop, seconds_left)
            usage = usage.plus(result.usage)
            seconds = round(time.monotonic() - began, 3)
            if result.text or result.vectors:
                return result._replace(usage=replace(usage, seconds=seconds))
            pause = result.pause if result.pause is not None else self._pause(usage.tries)
            too_late = seconds + pause >= self.terms.seconds
            if result.final or usage.tries >= (tries or self.terms.tries) or too_late:
                raise self._given_up(result, replace(usage, seconds=seconds), pause if too_late else None)
            if stop.wait(pause):
                raise WaitCancelled

    def _pause(self, tries: int) -> float:
        """Seconds before the next try: twice as long each time, a little uneven so that many do not come at once."""
        longest: float = min(_LONGEST_PAUSE, self.terms.pause * 2 ** (tries - 1))
        return longest * random.uniform(0.75, 1.0)

    def _given_up(self, result: CallResult, usage: Usage, pause: float | None) -> NoModelAnswer:
        times = "one try" if usage.tries == 1 else f"{usage.tries} tries"
        message = f"gave no answer in {times} ({result.why})." if usage.tries else f"cannot be asked: {result.why}."
        hint = result.hint
        if not result.final and pause is not None and usage.tries < self.terms.tries:
            hint = f"The next try would come after the {self.terms.seconds:g} s of model_seconds."
        error = NoModelAnswer(f"model {self.model}", message, hint)
        error.usage = usage
        return error

    def _try(
        self, call: Callable[[], Any], read: Callable[[Any], CallResult], stop: threading.Event, seconds: float
    ) -> CallResult:
        """One call, on a thread of its own: a server that drips bytes, or never answers, is left after `seconds`."""
        try:
            response = _away(call, stop, seconds + _GRACE)
        except (WaitCancelled, MemoryError):
            raise
        except CutStream as cut:
            why = failed(cut.__cause__ if isinstance(cut.__cause__, Exception) else cut, seconds, self.terms.key_env)
            return why._replace(usage=self._usage(cut.answer))
        except Exception as error:  # noqa: BLE001 - litellm raises what its providers raise
            return failed(error, seconds, self.terms.key_env)
        return read(response)

    def prices(self) -> tuple[float, float] | None:
        """US dollars for a million tokens sent and for a million that come back; None where nobody knows."""
        if self.terms.price_in is not None or self.terms.price_out is not None:
            return self.terms.price_in or 0.0, self.terms.price_out or 0.0
        price_list = _litellm().model_cost
        costs = price_list.get(self.model) or price_list.get(self.model.partition("/")[2]) or {}
        price_in, price_out = costs.get("input_cost_per_token"), costs.get("output_cost_per_token")
        if not isinstance(price_in, float) or not isinstance(price_out, float):
            return None
        return price_in * 1e6, price_out * 1e6

    def batch_prices(self) -> tuple[float, float] | None:
        """As `prices`, of a question in a batch: half, where litellm's list says nothing of batches."""
        if (alone := self.prices()) is None:
            return None
        price_list = _litellm().model_cost
        costs = price_list.get(self.model) or price_list.get(self.model.partition("/")[2]) or {}
        price_in, price_out = costs.get("input_cost_per_token_batches"), costs.get("output_cost_per_token_batches")
        own = self.terms.price_in is not None or self.terms.price_out is not None
        if own or not isinstance(price_in, float) or not isinstance(price_out, float):
            return alone[0] * BATCH_SHARE, alone[1] * BATCH_SHARE
        return price_in * 1e6, price_out * 1e6

    def provider(self) -> str | None:
        """Whose model it is; of a server of one's own `openai`, None where nobody can tell."""
        provider = _provider(_litellm(), self.model)
        return "openai" if provider is None and self.terms.base else provider

    def speaks_openai(self) -> bool:
        """Whether its server is sent OpenAI's chat completions as they are."""
        return self.provider() in OPENAI_PROVIDERS

    def body(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None, *, batch: bool = False
    ) -> dict[str, Any]:
        """What a model that speaks OpenAI's protocol is sent, as `ask` (or a `batch`) sends it; nothing is asked."""
        litellm = _litellm()
        provider = self.provider()
        name = self.model if _provider(litellm, self.model) is None else litellm.get_llm_provider(model=self.model)[0]
        optional_params = litellm.utils.get_optional_params(
            model=name, custom_llm_provider=provider, drop_params=True, max_tokens=self.terms.tokens,
            **self._answer_options(litellm, schema),
        )  # fmt: skip
        options = {key: value for key, value in optional_params.items() if key not in ("stream", "extra_body")}
        streamed = STREAMED if self.terms.stream and not batch else {}
        return {"model": name, "messages": _messages(messages), **options, **streamed}

    def read_body(self, body: Mapping[str, Any]) -> CallResult:
        """A response that came in a batch as an answer, its cost at the prices of a batch."""
        try:
            result = self._read(_litellm().ModelResponse(**body))
        except Exception as error:  # noqa: BLE001 - litellm raises what its values raise
            return CallResult(why=f"it is no answer ({type(error).__name__})")
        prices, usage = self.batch_prices(), result.usage
        cost = None
        if prices is not None and usage.prompt_tokens is not None:
            cost = (usage.prompt_tokens * prices[0] + (usage.completion_tokens or 0) * prices[1]) / 1e6
        return result._replace(usage=replace(usage, cost=cost))

    def _call(
        self, litellm: ModuleType, messages: Sequence[Message], seconds: float, schema: Mapping[str, Any] | None
    ) -> Any:
        options = {**self.options(seconds), **self._answer_options(litellm, schema)}
        request = {"model": self.model, "messages": _messages(messages), "max_tokens": self.terms.tokens, **options}
        if not self.terms.stream:
            return litellm.completion(**request)
        return whole_answer(litellm, litellm.completion(**request, **STREAMED), self.model)

    def _answer_options(self, litellm: ModuleType, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """How the answer is to be given."""
        options: dict[str, Any] = {}
        if schema is not None and _keeps_to_schema(litellm, self.model):
            json_schema = {"name": "answer", "schema": dict(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        if self.terms.temperature is not None:
            options["temperature"] = self.terms.temperature
        return options

    def _embedding(self, litellm: ModuleType, texts: Sequence[str], seconds: float) -> Any:
        return litellm.embedding(model=self.model, input=list(texts), encoding_format="float", **self.options(seconds))

    def options(self, seconds: float) -> dict[str, Any]:
        """Where the model is, with which key, and that patience is ours."""
        litellm, terms = _litellm(), self.terms
        options: dict[str, Any] = {"timeout": seconds, "max_retries": 0, "num_retries": 0}
        if terms.base:
            options["api_base"] = terms.base
        provider = _provider(litellm, self.model)
        if terms.base and provider is None:
            provider = options["custom_llm_provider"] = "openai"
        key = _key(terms, provider)
        if key is not None:
            options["api_key"] = key
        return options

    def _read(self, response: Any) -> CallResult:
        """A response as an answer: one without words is a try that failed after it was paid for."""
        usage = self._usage(response)
        choices = getattr(response, "choices", None) or []
        text = getattr(getattr(choices[0], "message", None), "content", None) if choices else None
        if not isinstance(text, str) or not text.strip():
            finish_reason = getattr(choices[0], "finish_reason", "") if choices else ""
            hint = "Raise model_tokens: it was used up before the answer." if finish_reason == "length" else ""
            return CallResult(usage=usage, why="it came back empty", hint=hint)
        return CallResult(without_secrets(text, self.terms.key_env), usage)

    def _vectors(self, response: Any, count: int) -> CallResult:
        """A response as vectors in the texts' order: one that lacks some, or whose lengths differ, is a failed try."""
        usage = self._usage(response)
        data = getattr(response, "data", None)
        embeddings = (
            {str(_of(item, "index")): _of(item, "embedding") for item in data} if isinstance(data, list) else {}
        )
        vectors = [embeddings.get(str(place)) for place in range(count)]
        rows = [list(map(float, row)) for row in vectors if isinstance(row, list) and all(map(_is_number, row))]
        if len(rows) < count or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
            return CallResult(usage=usage, why="it sent no vector for each text", hint="Is this an embedding model?")
        return CallResult(usage=usage, vectors=rows)

    def _usage(self, response: Any) -> Usage:
        usage = getattr(response, "usage", None)
        prompt_tokens, completion_tokens = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        if not prompt_tokens and not completion_tokens:
            return Usage()
        return Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cached_tokens=_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
            cost=self._cost(response, prompt_tokens or 0, completion_tokens or 0),
        )

    def _cost(self, response: Any, prompt_tokens: int, completion_tokens: int) -> float | None:
        terms = self.terms
        if terms.price_in is not None or terms.price_out is not None:
            return (prompt_tokens * (terms.price_in or 0.0) + completion_tokens * (terms.price_out or 0.0)) / 1e6
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        return float(cost) if isinstance(cost, int | float) else None


def _away(work: Callable[[], T], stop: threading.Event, seconds: float | None) -> T:
    """What `work` returns or raises, done on a daemon thread; `WaitCancelled` once `stop` is set, `TooLate` in the end.

    A thread that is left behind ends by itself, at the latest with its socket.
    """
    outcomes: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            outcomes.put((None, error))

    threading.Thread(target=run, name="model", daemon=True).start()
    until = None if seconds is None else time.monotonic() + seconds
    while not stop.is_set():
        try:
            value, error = outcomes.get(timeout=_POLL)
        except Empty:
            if until is not None and time.monotonic() > until:
                raise TooLate from None
            continue
        if error is not None:
            raise error
        return value  # type: ignore[return-value]
    raise WaitCancelled


_loading = threading.Lock()


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """What litellm loads stays: looking through it for rubbish meanwhile takes a second of its seven."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _litellm() -> ModuleType:
    """litellm, silent and without any network of its own."""
    with _loading:
        for source in ("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS", "BLOG_POSTS"):
            os.environ[f"LITELLM_LOCAL_{source}"] = "True"
        os.environ["LITELLM_MODE"] = "PRODUCTION"  # any other reads a `.env` from the working folder
        with _no_collections():
            import litellm

        for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")
        litellm.suppress_debug_info = True
        litellm.drop_params = True
        litellm.telemetry = False
        litellm.disable_streaming_logging = True
        from lab.llm.bounded_replies import bound_replies

        bound_replies(litellm)
    module: ModuleType = litellm
    return module


def _provider(litellm: ModuleType, model: str) -> str | None:
    """Whose model it is by its name, None where litellm cannot tell."""
    try:
        return str(litellm.get_llm_provider(model=model)[1])
    except litellm.exceptions.BadRequestError:
        return None


def _keeps_to_schema(litellm: ModuleType, model: str) -> bool:
    """Whether litellm knows the model as one that answers by a JSON Schema; a server of one's own may not."""
    try:
        return bool(litellm.supports_response_schema(model=model))
    except Exception:  # noqa: BLE001 - litellm raises plain exceptions for names that it does not know
        return False


def _key(terms: ModelTerms, provider: str | None) -> str | None:
    """The key to send, None to leave it to litellm, which knows each provider's own variable."""
    if terms.key_env:
        key = os.environ.get(terms.key_env, "")
        if not key:
            raise NoKey(f"the variable {terms.key_env}, which model_key_env names, is not set")
        return key
    if provider != "openai":
        return None
    key = os.environ.get("OPENAI_API_KEY", "")
    if not key and not terms.base:
        raise NoKey("there is no OPENAI_API_KEY in the environment")
    return key or "none"  # a server of one's own may ask for none, its client does not


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": _content(message)} for message in messages]


def _content(message: Message) -> Any:
    if all(isinstance(part, str) for part in message.parts):
        return "\n".join(str(part) for part in message.parts)
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {
            "type": "image_url",
            "image_url": {"url": f"data:{part.mime};base64,{base64.b64encode(part.data).decode()}"},
        }
        for part in message.parts
    ]


def _of(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _is_number(value: Any) -> bool:
    """Whether it is a number that a machine can hold: JSON's may be of any length."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= sys.float_info.max


def _count(usage: Any, name: str) -> int | None:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else None
