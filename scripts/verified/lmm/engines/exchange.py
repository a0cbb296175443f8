"""One call of a role as an endpoint takes it, path and JSON body, and the meaning of its answer; the same in a
batch."""

from verified.config.generation import EmbedSettings, EngineSettings, RerankSettings
from verified.lmm.engines.chat_protocol import SCORING, chat_body, error_of, no_scores, reply_of, score_of
from verified.lmm.engines.embedding_protocol import embedding_body, embedding_reply
from verified.lmm.engines.relevance_protocol import relevance_body, relevance_reply
from verified.lmm.request import Reply, Request


def path_of(role: EngineSettings) -> str:
    """The path of a role's calls, below the address of its endpoint."""
    if isinstance(role, EmbedSettings):
        return "/embeddings"
    return "/score" if isinstance(role, RerankSettings) else "/chat/completions"


def body_of(request: Request, role: EngineSettings) -> dict:
    """The body of a call."""
    if isinstance(role, EmbedSettings):
        return embedding_body(request, role)
    if isinstance(role, RerankSettings):
        return relevance_body(request, role)
    return chat_body(request, role.model, role.video_input)


def read_answer(content: bytes, request: Request, role: EngineSettings) -> Reply:
    """The reply in the bytes of an answer. Raises Unreadable for anything that is not as the protocol promises."""
    if isinstance(role, EmbedSettings):
        return embedding_reply(content, role.model)
    if isinstance(role, RerankSettings):
        return relevance_reply(content, role.model)
    scored = request.slots.get("continuation")
    return reply_of(content, role.model) if scored is None else score_of(content, scored, role.model)


def read_refusal(status: int, body: object, message: str, request: Request | None, role: EngineSettings) -> Reply:
    """The meaning of an error status for a call. Raises InputError if no further call can succeed."""
    reply = error_of(status, body, message, role.api_key_variable, role.model)
    if request and "continuation" in request.slots and any(name in reply.detail for name in SCORING):
        raise no_scores(role.model, reply.detail) from None
    return reply
