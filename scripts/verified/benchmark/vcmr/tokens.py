"""Token ids of captions, for models that read those instead of features (HERO)."""

from collections.abc import Callable
from dataclasses import dataclass

from verified.errors import InputError
from verified.nn import mini_lm


@dataclass
class Tokeniser:
    """[CLS] and the ids of a caption's word pieces, without [SEP]."""

    vocabulary: int
    cls_id: int
    ids_of: Callable[[list[str]], list[list[int]]]
    """The ids of each caption, without special tokens."""

    def __call__(self, captions: list[str]) -> list[list[int]]:
        return [[self.cls_id, *ids] for ids in self.ids_of(captions)]


def load_tokeniser(name: str) -> Tokeniser:
    """The tokeniser of the text encoder `name`: all-MiniLM-L6-v2 (packaged; BERT's vocabulary), a folder or hub name.

    Raises InputError if it cannot be loaded or has no [CLS].
    """
    return _packaged_tokeniser() if name == mini_lm.NAME else _from_library(name)


def _packaged_tokeniser() -> Tokeniser:
    tokeniser = mini_lm.load_tokeniser()
    tokeniser.no_padding()

    def ids_of(captions: list[str]) -> list[list[int]]:
        return [one.ids for one in tokeniser.encode_batch(captions, add_special_tokens=False)]

    first = tokeniser.token_to_id("[CLS]")
    if first is None:
        raise InputError(f"the tokeniser of {mini_lm.NAME!r} has no [CLS] token")
    return Tokeniser(tokeniser.get_vocab_size(), first, ids_of)


def _from_library(name: str) -> Tokeniser:
    from transformers import AutoTokenizer

    try:
        tokeniser = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise InputError(f"the tokeniser of {name!r} cannot be loaded: {error}") from None
    if tokeniser.cls_token_id is None:
        raise InputError(f"the tokeniser of {name!r} has no [CLS] token", remedy="name a BERT or RoBERTa encoder")

    def ids_of(captions: list[str]) -> list[list[int]]:
        return tokeniser(captions, add_special_tokens=False)["input_ids"]

    return Tokeniser(len(tokeniser), tokeniser.cls_token_id, ids_of)
