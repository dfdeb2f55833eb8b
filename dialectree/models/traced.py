"""A model at an endpoint as a chat model of LangChain, for whoever traces: LangSmith, say."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr, SecretStr

from dialectree.models.clients import Line, silent
from dialectree.models.endpoints import answered
from dialectree.models.troubles import reading

_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


class Chat(ChatOpenAI):
    """ChatOpenAI over a line of ours: what a trace shows is LangChain's, what goes out is not.

    It is handed a choice that was read as an untraced one is: LangChain's own reading ends the run
    at an empty list of choices, and refuses replies that can be used.
    """

    _line: Line = PrivateAttr()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        said = [{"role": _ROLES[message.type], "content": message.content} for message in messages]
        body = {"model": self.model_name, "messages": said, **kwargs["extra_body"]}
        with reading():
            response = await self._line.post("/chat/completions", body, kwargs["timeout"])
            done = answered(response)
            message = {"role": "assistant", "content": done.text}
            choices = [{"index": 0, "message": message, "finish_reason": done.finish}]
            result = self._read({**response, "choices": choices})
            result.generations[0].message.additional_kwargs["refusal"] = done.refusal
        return result

    def _read(self, response: dict[str, Any]) -> ChatResult:
        try:
            return self._create_chat_result(response)
        except (TypeError, ValueError, AttributeError):  # of its usage, maybe: the reply is paid
            return self._create_chat_result({**response, "usage": None})


@lru_cache(64)
def chat(line: Line, model: str) -> Chat:
    """``model`` at the end of ``line``."""
    made = Chat(
        model=model,
        base_url=line.address,
        api_key=SecretStr("none"),
        http_async_client=silent(),
        http_socket_options=(),
        cache=False,
        disable_streaming=True,  # a host that streams gets each reply as one piece
        max_retries=0,
        use_responses_api=False,
    )
    made._line = line
    return made
