"""The only caller of language models: text and pictures in, text and cost out, with retries and limits.

litellm is the client of the providers. The first question loads it, without a download of prices, without reading
`.env` and without output. It then connects to the model's server only.
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
from lab.core.run.run_records import Blob
from lab.core.run.step import Usage
from lab.core.seams import WaitCancelled
from lab.core.settings import Settings
from lab.llm.attempt import KEYS, CallResult, NoKey, TooLate, classify_failure, without_secrets
from lab.llm.exchange import Exchange, current_exchange, recorded
from lab.llm.model_reply import ModelReply, read_completion
from lab.llm.refused_parameters import LEARNED, SentRequest, adapted, changes_for, names_left_out
from lab.llm.streamed_answer import STREAMED, CutStream, whole_answer

T = TypeVar("T")

_POLL = 0.05
"""Seconds between two polls of `stop`."""
_GRACE = 1.0
"""Seconds beyond its own timeout in which a try may still report the timeout itself."""
_LONGEST_PAUSE = 30.0
_NOT_FOR_A_PARAMETER = (401, 402, 403, 408, 429)
"""Statuses of refusals that no change of the request's parameters repairs."""
_WRONG_REQUEST = (400, 415, 422)
"""Statuses that report a fault in the request."""
OPENAI_PROVIDERS = ("openai", "hosted_vllm", "litellm_proxy")
"""Providers that get OpenAI's chat completions unchanged, in batches, too."""
BATCH_SHARE = 0.5
"""Price of a question in a batch, as a share of the price of a single one."""


class Message(NamedTuple):
    """One message of a conversation: texts and pictures, in order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Blob, ...]


class ModelAnswer(NamedTuple):
    """Answer of a model, and its cost with all tries.

    `text` is the part to act on. `thinking` is what the model wrote before it, and `source` where that was found.
    """

    text: str
    usage: Usage
    thinking: str = ""
    source: str = ""


class NoModelAnswer(LabError):
    """The model gave no answer. `usage` is the cost of all tries.

    `thinking` is what the model wrote nevertheless, `source` where that was found. `said` describes a reply that is
    final but not an answer (a refusal, a cut text). It is empty if the model said nothing.
    """

    usage: Usage = Usage(tries=0)
    thinking: str = ""
    source: str = ""
    said: str = ""


class ModelTerms(NamedTuple):
    """Terms on which a model is asked: `seconds` limits an answer with all tries and pauses, `timeout` one try.

    `price_in` and `price_out` are US dollars per million tokens. None uses litellm's own list.
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
    """Seconds before the second try. Each further pause is twice as long."""
    stream: bool = False
    """True to stream answers. An answer is used only when it is whole."""


def terms(settings: Settings) -> ModelTerms:
    """Return the terms in the user's settings."""
    return ModelTerms(
        base=settings.model_base,
        key_env=settings.model_key_env,
        timeout=settings.model_timeout,
        seconds=settings.model_seconds,
        tries=settings.model_tries,
        tokens=settings.model_tokens,
        # A setting cannot be None. Below 0 no temperature is sent.
        temperature=settings.model_temperature if settings.model_temperature >= 0 else None,
        price_in=settings.model_price_in,
        price_out=settings.model_price_out,
        stream=settings.model_stream,
    )


class Llm:
    """One model by litellm's name (`openai/gpt-4.1-mini`), asked on the same terms each time.

    With a custom `base`, the server there gets OpenAI's chat completions and the name as written, without a leading
    `openai/` (or another of `OPENAI_PROVIDERS`). Otherwise the name's prefix selects the provider. Each question reads
    its key from the environment, and no reply contains it.
    """

    def __init__(self, model: str, on: ModelTerms | None = None) -> None:
        self.model = model
        self.terms = on or ModelTerms()

    def check(self) -> None:
        """Raise `LabError` if the name is not a model's, or its key is plainly missing. Load no library."""
        title = f"model {self.model}"
        if "://" in self.model or not self.model.strip():
            raise LabError(title, "is no name of a model", "An address goes into the setting model_base.", code=2)
        try:
            _key(self.terms, "openai" if self.terms.base else self.model.partition("/")[0])
        except NoKey as missing:
            raise LabError(title, f"cannot be asked: {missing}.", KEYS) from missing

    def check_known(self) -> None:
        """Raise `LabError` if litellm does not know the name. A custom server may offer any."""
        if not self.terms.base and _provider(_litellm(), self.model) is None:
            hint = "Write PROVIDER/NAME, as in openai/NAME, or set model_base to a server of your own."
            raise LabError(f"model {self.model}", "is no name of a model that litellm knows.", hint, code=2)

    def load(self, stop: threading.Event) -> ModuleType:
        """Load litellm, which takes seconds in a new process. Raise `WaitCancelled` soon after `stop` is set."""
        return _litellm() if "litellm" in sys.modules else _run_on_thread(_litellm, stop, None)

    def ask(
        self,
        messages: Sequence[Message],
        stop: threading.Event,
        schema: Mapping[str, Any] | None = None,
        *,
        words: bool = False,
    ) -> ModelAnswer:
        """Return the model's answer.

        Raise `WaitCancelled` soon after `stop` is set, `NoModelAnswer` if the model gives none. `schema` is a JSON
        Schema of the answer, which only models that support one get. With `words` any text is an answer. Without it the
        answer must contain a JSON object, and a cut one is not an answer.
        """
        result = self.patiently(
            lambda litellm, seconds: self._call(litellm, messages, seconds, schema),
            lambda answer: self._read_response(*answer, words=words),
            stop,
        )
        reply = result.reply or ModelReply()
        return ModelAnswer(result.text, result.usage, reply.thinking, reply.source)

    def embed(self, texts: Sequence[str], stop: threading.Event) -> list[list[float]]:
        """Return a vector for each text, from an embedding model. Raise like `ask`."""
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
        """Return the first successful try, with the cost of all. Raise `NoModelAnswer` if none succeeds.

        `call` gets litellm and its seconds. `tries` limits the tries, by default the terms do.
        """
        litellm = self.load(stop)
        began = time.monotonic()
        usage = Usage(tries=0)
        changes = LEARNED.changes_for(self.model, self.terms.base)
        asked_otherwise = 0
        while True:
            seconds_left = min(self.terms.timeout, self.terms.seconds - (time.monotonic() - began))
            exchange = Exchange(changes)
            result = self._try(partial(call, litellm, seconds_left), read, stop, seconds_left, exchange)
            usage = usage.plus(result.usage)
            seconds = round(time.monotonic() - began, 3)
            spent = replace(usage, seconds=seconds, without=names_left_out(changes) if exchange.sent.names else ())
            if result.text or result.vectors:
                LEARNED.add(self.model, self.terms.base, changes)
                return result._replace(usage=spent)
            # A request that the server wants changed is not a failed try, and needs no pause.
            if (more := _requested_changes(exchange)) and seconds < self.terms.seconds:
                changes, asked_otherwise = changes | more, asked_otherwise + 1
                continue
            pause = result.pause if result.pause is not None else self._pause(usage.tries)
            too_late = seconds + pause >= self.terms.seconds
            if result.final or usage.tries - asked_otherwise >= (tries or self.terms.tries) or too_late:
                raise self._no_answer(result, spent, pause if too_late else None)
            if stop.wait(pause):
                raise WaitCancelled

    def _pause(self, tries: int) -> float:
        """Return the seconds before the next try: exponential backoff, with jitter against simultaneous retries."""
        longest: float = min(_LONGEST_PAUSE, self.terms.pause * 2 ** (tries - 1))
        return longest * random.uniform(0.75, 1.0)

    def _no_answer(self, result: CallResult, usage: Usage, pause: float | None) -> NoModelAnswer:
        times = "one try" if usage.tries == 1 else f"{usage.tries} tries"
        message = f"gave no answer in {times} ({result.why})." if usage.tries else f"cannot be asked: {result.why}."
        hint = result.hint
        if not result.final and pause is not None and usage.tries < self.terms.tries:
            hint = f"The next try would come after the {self.terms.seconds:g} s of model_seconds."
        error = NoModelAnswer(f"model {self.model}", message, hint)
        error.usage = usage
        if result.reply is not None:
            error.thinking, error.source = result.reply.thinking, result.reply.source
            error.said = f"{result.why}. {result.hint}".strip() if result.final else ""
        return error

    def _try(
        self,
        call: Callable[[], Any],
        read: Callable[[Any], CallResult],
        stop: threading.Event,
        seconds: float,
        exchange: Exchange,
    ) -> CallResult:
        """Make one call on a thread of its own: a server that drips bytes or never replies is left after `seconds`."""

        def take_down() -> Any:
            with recorded(exchange):
                return call()

        try:
            response = _run_on_thread(take_down, stop, seconds + _GRACE)
        except (WaitCancelled, MemoryError):
            raise
        except CutStream as cut:
            cause = cut.__cause__ if isinstance(cut.__cause__, Exception) else cut
            return classify_failure(cause, seconds, exchange, self.terms.key_env)._replace(
                usage=self._usage(cut.answer)
            )
        except Exception as error:  # noqa: BLE001 - litellm raises what its providers raise
            return classify_failure(error, seconds, exchange, self.terms.key_env)
        if exchange.has_error:  # a client that makes an answer of what is none
            return classify_failure(ValueError("no answer"), seconds, exchange, self.terms.key_env)
        return read(response)

    def prices(self) -> tuple[float, float] | None:
        """Return US dollars per million tokens sent and received, or None if the price is unknown."""
        if self.terms.price_in is not None or self.terms.price_out is not None:
            return self.terms.price_in or 0.0, self.terms.price_out or 0.0
        price_list = _litellm().model_cost
        costs = price_list.get(self.model) or price_list.get(self.model.partition("/")[2]) or {}
        price_in, price_out = costs.get("input_cost_per_token"), costs.get("output_cost_per_token")
        if not isinstance(price_in, float) or not isinstance(price_out, float):
            return None
        return price_in * 1e6, price_out * 1e6

    def batch_prices(self) -> tuple[float, float] | None:
        """Return the `prices` of a question in a batch: half of them if litellm's list has no batch prices."""
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
        """Return litellm's provider, `openai` for a custom base URL, or None if unknown."""
        return self._route(_litellm())[0]

    def _route(self, litellm: ModuleType) -> tuple[str | None, str]:
        """Return the provider whose protocol is used, and the model's name for its server."""
        if not self.terms.base:
            provider = _provider(litellm, self.model)
            return provider, self.model if provider is None else litellm.get_llm_provider(model=self.model)[0]
        prefix, _, name = self.model.partition("/")
        return "openai", name if prefix in OPENAI_PROVIDERS and name else self.model

    def _name(self, litellm: ModuleType) -> str:
        """Return the name for litellm, which removes the provider's prefix again."""
        return f"openai/{self._route(litellm)[1]}" if self.terms.base else self.model

    def speaks_openai(self) -> bool:
        """Return True if the server gets OpenAI's chat completions unchanged."""
        return self.provider() in OPENAI_PROVIDERS

    def body(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None, *, batch: bool = False
    ) -> dict[str, Any]:
        """Return the request body for OpenAI's protocol, as `ask` (or a `batch`) sends it, without sending it."""
        litellm = _litellm()
        provider, name = self._route(litellm)
        optional_params = litellm.utils.get_optional_params(
            model=name, custom_llm_provider=provider, drop_params=True, max_tokens=self.terms.tokens,
            **self._answer_options(litellm, schema),
        )  # fmt: skip
        options = {key: value for key, value in optional_params.items() if key not in ("stream", "extra_body")}
        streamed = STREAMED if self.terms.stream and not batch else {}
        body = {"model": name, "messages": _messages(messages), **options, **streamed}
        return adapted(body, LEARNED.changes_for(self.model, self.terms.base))

    def read_body(self, body: Mapping[str, Any]) -> ModelAnswer:
        """Return a batch's response as an answer, its cost at batch prices. Raise `NoModelAnswer` if it has none."""
        try:
            response = _litellm().ModelResponse(**Exchange().complete(dict(body)))
        except Exception as error:
            raise NoModelAnswer(f"model {self.model}", f"gave no answer ({type(error).__name__}).") from error
        result = self._read_response(response, body)
        prices, usage = self.batch_prices(), result.usage
        cost = None
        if prices is not None and usage.prompt_tokens is not None:
            cost = (usage.prompt_tokens * prices[0] + (usage.completion_tokens or 0) * prices[1]) / 1e6
        usage = replace(usage, cost=cost, without=names_left_out(LEARNED.changes_for(self.model, self.terms.base)))
        if not result.text:
            raise self._no_answer(result, usage, None)
        reply = result.reply or ModelReply()
        return ModelAnswer(result.text, usage, reply.thinking, reply.source)

    def learn_refusal(self, words: str, status: Any) -> None:
        """Store what a server refused of a question in a batch. The next question omits it."""
        learned = LEARNED.changes_for(self.model, self.terms.base)
        names = SentRequest.from_body(self.body((), batch=True)).names
        sent = SentRequest(names, has_images=True, has_system=True)
        LEARNED.add(self.model, self.terms.base, changes_for(words, sent, learned, sure=status in _WRONG_REQUEST))

    def _call(
        self, litellm: ModuleType, messages: Sequence[Message], seconds: float, schema: Mapping[str, Any] | None
    ) -> Any:
        options = {**self.options(seconds), **self._answer_options(litellm, schema)}
        request = {
            "model": self._name(litellm),
            "messages": _messages(messages),
            "max_tokens": self.terms.tokens,
            **options,
        }
        if self.terms.stream:
            response = whole_answer(litellm, litellm.completion(**request, **STREAMED), self.model)
        else:
            response = litellm.completion(**request)
        exchange = current_exchange()
        return response, exchange and exchange.completion

    def _answer_options(self, litellm: ModuleType, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the request's options for the form of the answer."""
        options: dict[str, Any] = {}
        if schema is not None and _supports_schema(litellm, self.model):
            json_schema = {"name": "answer", "schema": dict(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        if self.terms.temperature is not None:
            options["temperature"] = self.terms.temperature
        return options

    def _embedding(self, litellm: ModuleType, texts: Sequence[str], seconds: float) -> Any:
        name = self._name(litellm)
        return litellm.embedding(model=name, input=list(texts), encoding_format="float", **self.options(seconds))

    def options(self, seconds: float) -> dict[str, Any]:
        """Return the server's address, the key and the timeout. Clients must not retry, because `patiently` does."""
        litellm, terms = _litellm(), self.terms
        options: dict[str, Any] = {"timeout": seconds, "max_retries": 0, "num_retries": 0}
        if terms.base:
            options["api_base"] = terms.base
        provider = self._route(litellm)[0]
        if terms.base:
            options["custom_llm_provider"] = provider
        key = _key(terms, provider)
        if key is not None:
            options["api_key"] = key
        return options

    def _read_response(self, response: Any, completion: Mapping[str, Any] | None, *, words: bool = False) -> CallResult:
        """Parse a response, by the server's own chat completion if there is one.

        A response without an answer is a failed try that has its cost.
        """
        usage = self._usage(response)
        if completion is None and response is not None:
            completion = response.model_dump()
        reply = read_completion(completion or {}, self.terms.tokens, words=words)
        text, thinking, why = (
            without_secrets(one, self.terms.key_env) for one in (reply.text, reply.thinking, reply.why)
        )
        reply = reply._replace(text=text, thinking=thinking, why=why)
        return CallResult(text, usage, why, reply.hint, reply.final, reply=reply)

    def _vectors(self, response: Any, count: int) -> CallResult:
        """Return the vectors in the texts' order. A missing vector, or unequal lengths, make it a failed try."""
        usage = self._usage(response)
        data = getattr(response, "data", None)
        embeddings = (
            {str(_get_field(item, "index")): _get_field(item, "embedding") for item in data}
            if isinstance(data, list)
            else {}
        )
        vectors = [embeddings.get(str(place)) for place in range(count)]
        rows = [list(map(float, row)) for row in vectors if isinstance(row, list) and all(map(_is_number, row))]
        if len(rows) < count or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
            return CallResult(usage=usage, why="it sent no vector for each text", hint="Is this an embedding model?")
        return CallResult(usage=usage, vectors=rows)

    def _usage(self, response: Any) -> Usage:
        usage = getattr(response, "usage", None)
        prompt_tokens, completion_tokens = (
            _token_count(usage, "prompt_tokens"),
            _token_count(usage, "completion_tokens"),
        )
        if not prompt_tokens and not completion_tokens:
            return Usage()
        return Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cached_tokens=_token_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
            cost=self._cost(response, prompt_tokens or 0, completion_tokens or 0),
        )

    def _cost(self, response: Any, prompt_tokens: int, completion_tokens: int) -> float | None:
        terms = self.terms
        if terms.price_in is not None or terms.price_out is not None:
            return (prompt_tokens * (terms.price_in or 0.0) + completion_tokens * (terms.price_out or 0.0)) / 1e6
        # litellm puts the cost that it computed here.
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        return float(cost) if isinstance(cost, int | float) else None


def _requested_changes(exchange: Exchange) -> frozenset[str]:
    """Return the changes that a refusal asks for, empty if changes cannot help."""
    status = exchange.error_status
    if not exchange.has_error or status in _NOT_FOR_A_PARAMETER:
        return frozenset()
    return changes_for(exchange.words, exchange.sent, exchange.changes, sure=status in _WRONG_REQUEST)


def _run_on_thread(work: Callable[[], T], stop: threading.Event, seconds: float | None) -> T:
    """Run `work` on a daemon thread and return its result.

    Raise `WaitCancelled` once `stop` is set, `TooLate` after `seconds`. An abandoned thread ends by itself, at the
    latest with its socket. It is no executor's: Python waits for those at exit, and this one may last minutes.
    """
    outcomes: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            outcomes.put((None, error))

    threading.Thread(target=run, name="model", daemon=True).start()
    until = None if seconds is None else time.monotonic() + seconds
    # A thread cannot wait for a queue and an event at once, so poll.
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
    """Disable garbage collection while litellm loads. Its objects stay, and collecting takes one of seven seconds."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _litellm() -> ModuleType:
    """Return litellm, silent and without connections of its own."""
    # Threads that ask their first question at once must not import and configure it twice.
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
    """Return the provider of a model's name, or None if litellm does not know it."""
    try:
        return str(litellm.get_llm_provider(model=model)[1])
    except litellm.exceptions.BadRequestError:
        return None


def _supports_schema(litellm: ModuleType, model: str) -> bool:
    """Return True if litellm knows that the model supports a JSON Schema. A custom server may not."""
    try:
        return bool(litellm.supports_response_schema(model=model))
    except Exception:  # noqa: BLE001 - litellm raises plain exceptions for names that it does not know
        return False


def _key(terms: ModelTerms, provider: str | None) -> str | None:
    """Return the key to send, or None to leave it to litellm, which knows each provider's own variable."""
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
    return key or "none"  # a custom server may need no key, but the client requires one


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": _content(message)} for message in messages]


def _content(message: Message) -> Any:
    # Some servers accept only a string as content.
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


def _get_field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _is_number(value: Any) -> bool:
    """Return True for a number that fits a float. A number in JSON may have any length."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= sys.float_info.max


def _token_count(usage: Any, name: str) -> int | None:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else None
