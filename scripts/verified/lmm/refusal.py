"""Refuse captions that must not enter the benchmark, with a reason.

A candidate is refused when it mentions the original caption, frames, explicit time (it would give the moment away,
supplement listing 6) or the prompt, declines to answer or thinks aloud, or repeats the coarse caption or an earlier
candidate. It is also refused when it is empty, a single word or too long, or contains markup, a URL, an address, an
account, a telephone number or instructions to a reader or model. Quoted speech of somebody in the video is exempt.
"""

import re

from verified.io.characters import count_words, words_of
from verified.lmm.thoughts import THOUGHT

SENTENCE = r"(?:^|[.!?。！？])\s*"
"""Beginning of a sentence: a refusal opens one, whereas a caption reports who says or cannot do something."""
OPENINGS = (
    # English
    r"(?:i(?:'|’)?m (?:so |very |really )?sorry|i am (?:so |very |really )?sorry|sorry|(?:my )?apologies"
    r"|i apologi[sz]e|i regret)(?:[,.!]| but| for| to| that| about| i\b|$)",
    r"(?:(?:unfortunately|sadly|regrettably|however|but|as an? [\w -]{2,30}),? )?i (?:can(?:'|’)?t|cannot"
    r"|can not|could(?: not|n(?:'|’)t)|(?:am|was|are|were)(?: not able| unable)(?: to)?|(?:do|did)(?: not|n(?:'"
    r"|’)t)(?: know| see| have| think i can)?|won(?:'|’)t|have no|would need|need more)\b",
    r"(?:i(?:'|’)m|we(?:'|’)re|i am) (?:unable|not able|not sure|just an?|only an?)\b",
    r"(?:unfortunately,? )?(?:it(?:'s|’s| is| was) |this is )?(?:unable|impossible|not possible|not able|cannot"
    r"|can(?:'|’)t|could not|failed|difficult|hard|unclear|insufficient (?:data|information|evidence|context))"
    r" (?:for me )?(?:to )?(?:determine|tell|say|discern|identify|describe|provide|answer|assess|generate|comply"
    r"|analy[sz]e|infer|confirm|caption|rewrite|view|access|assist|ascertain|specify|create|produce|complete|fulfil"
    r"|make out|give|verify|conclude|process|see (?:the |any |this )?(?:videos?|images?|pictures?|photos?|frames?"
    r"|clips?|footage|content|visuals?|media|file|input|link|attachment))\b",
    r"(?:unfortunately,? )?(?:there (?:is|was|are|were) )?(?:no|not enough|insufficient|without (?:the|a|any))"
    r" (?:(?!in |of |on )[\w-]+ ){0,2}(?:(?:videos?|images?|pictures?|photos?|frames?|clips?|footage|content|visuals?"
    r"|media|file|input|link|attachment)|information|details?|context|data|captions?|descriptions?|answers?)"
    r"(?: (?:content|input|frames?|footage|data|files?|clips?|description|text|about [\w ]{1,30}))?"
    r"(?:(?: (?:is|was|were|are|has been|have been))? (?:provided|available|given|supplied|attached|uploaded|received"
    r"|accessible|included|(?:found|detected|shown|visible)[.!]?\s*$|to \w+)|[.,]|$)",
    r"(?:unfortunately,? )?(?:the|this|your) (?:[\w-]+ )?(?:videos?|images?|pictures?|photos?|frames?|clips?|footage"
    r"|content|visuals?|media|file|input|link|attachment) (?:(?:is|was|are|were|seems?"
    r"|appears?)(?: to be)? (?:missing|corrupt\w*|inaccessible|(?:not |un)(?:available|provided|clear|accessible"
    r"|visible|viewable|supported))|(?:does|do|did|could|can)(?: ?not|n(?:'|’)t) (?:show|contain|provide|include"
    r"|give|load|be|have) (?:any|enough|sufficient|clear|loaded))",
    r"(?:n/?a|none|null|nil|unknown|unclear|undefined|not (?:available|applicable|sure|visible|provided|known)"
    r"|no (?:answer|caption|description|response|idea|output)|(?:caption|description) (?:un|not )available)[.!?\s]*$",
    r"(?:could you|can you|would you|if you|kindly|feel free|let me know)\b[^.?!]{0,60}\b(?:provide|upload|share"
    r"|clarify|send|attach|describe|like me|give|know|help)\b",
    # German, Dutch, Swedish, Danish and Norwegian
    r"(?:es )?tut mir (?:sehr )?leid\b",
    r"(?:entschuldigung|verzeihung)[,.!]",
    r"(?:leider )?(?:ich )?(?:kann|konnte|könnte|weiß|sehe) (?:ich )?[^.!?]{0,60}\b(?:nicht|kein\w*)\b",
    r"(?:leider )?(?:ich )?bin (?:ich )?(?:leider )?nicht in der lage\b",
    r"(?:leider )?(?:es )?ist (?:es )?(?:leider )?nicht (?:möglich|erkennbar)\b",
    r"(?:leider )?(?:es )?(?:wurden? )?(?:keine?|keinerlei) (?:\w+ )?(?:videos?|bild\w*|inhalte?|angaben?"
    r"|informationen)\b[^.!?]{0,40}\b(?:bereitgestellt|vorhanden|verfügbar|angegeben|verfügung|erhalten|beigefügt)\b",
    r"(?:het spijt me|helaas (?:kan|is)|ik (?:kan|weet|zie) [^.!?]{0,40}\b(?:niet|geen)|het is niet mogelijk)\b",
    r"(?:tyvärr|förlåt|beklager|desværre|undskyld|jag (?:kan|vet) (?:tyvärr )?inte|jeg (?:kan|ved|vet)"
    r" (?:desværre )?ikke)\b",
    # French, Spanish, Portuguese, Italian
    r"(?:je suis (?:vraiment )?)?désolée?s?\b",
    r"(?:malheureusement, )?je (?:ne|n(?:'|’)) ?(?:peux|suis|sais|vois|parviens|ai)\b",
    r"(?:il est )?impossible (?:de|à) (?:déterminer|dire|décrire|savoir|identifier|voir|préciser)\b",
    r"(?:il n(?:'|’)est|ce n(?:'|’)est) pas possible\b",
    r"aucune? (?:vidéo|image|contenu|information)\b[^.!?]{0,30}\b(?:fournie?|disponible|donnée?|transmise?)\b",
    r"(?:lo siento|lo lamento|lamentablemente,? no|disculp\w+|desafortunadamente,? no)\b",
    r"(?:yo )?no (?:puedo|sé|(?:me )?es posible|se (?:puede|ha|proporcion\w+)|tengo acceso|hay (?:video|vídeo"
    r"|información))\b",
    r"(?:es )?imposible (?:determinar|decir|describir|saber|identificar)\b",
    r"(?:ning[uú]n|nenhum|nessun) (?:video|vídeo|contenido|conteúdo|contenuto)\b[^.!?]{0,30}\b(?:proporcion"
    r"|disponible|adjunt|fornecid|disponível|fornit|disponibil)",
    r"(?:desculpe|sinto muito|lamento|infelizmente,? (?:não|eu não))\b",
    r"(?:eu )?não (?:posso|consigo|sei|é possível|foi possível|tenho acesso|há (?:vídeo|informa))",
    r"(?:é )?impossível (?:determinar|dizer|descrever|identificar)\b",
    r"(?:mi dispiace|spiacente|purtroppo,? non)\b",
    r"non (?:posso|riesco|so|sono in grado|è possibile|è stato fornito)\b",
    r"(?:è )?impossibile (?:determinare|dire|descrivere|stabilire)\b",
    # Slavic languages, Turkish, Greek
    r"(?:извините|простите|прошу прощения|к сожалению,? (?:я|не|мне)|вибачте|на жаль,? (?:я|не))",
    r"я не (?:могу|знаю|вижу|в состоянии|можу)",
    r"(?:невозможно|не удалось|нельзя|неможливо) (?:определить|описать|сказать|установить|визначити)",
    r"(?:видео|изображени\w+|кадры?) не (?:был\w* )?(?:предоставлен|доступн)",
    r"(?:przepraszam|niestety,? nie|nie (?:mogę|jestem w stanie|wiem|można (?:określić|stwierdzić)))\b",
    r"(?:omlouvám se|bohužel ne|nemohu|üzgünüm|özür dilerim|maalesef|bilmiyorum|συγγνώμη|λυπάμαι|δεν μπορώ)\b",
    # Chinese, Japanese, Korean
    r"(?:很|非常|十分)?(?:抱歉|对不起|對不起|不好意思)",
    r"(?:[由因根]\w{1,20}[，,])?(?:我|我们|我們|目前|暂时)?(?:無法|无法|不能|难以|難以|没法)(?:从\w{1,12}中?)?(?:确定|確定|判断|判斷|描述|提供|回答|识别|識別|看到"
    r"|得知|辨认|生成|满足)",
    r"(?:我)?(?:不知道|不清楚)",
    r"(?:您|你)?(?:没有|沒有|未|并未)(?:提供|上传|看到)?\w{0,4}(?:视频|視頻|影片|图片|圖片|图像|信息|内容)",
    r"(?:视频|視頻|影片|图片|圖片|画面)\w{0,4}(?:未|没有|沒有)(?:提供|上传|显示)",
    r"(?:大変)?(?:申し訳|すみません|ごめんなさい|恐れ入り)",
    r"(?:私には)?(?:わかりません|分かりません)",
    r"(?:죄송|미안)",
    # Arabic, Persian, Hebrew, Hindi, Vietnamese, Indonesian, Thai
    r"(?:عذر|آسف|أعتذر|أنا آسف|للأسف|لا أستطيع|لا يمكنني|لا أعرف|لا يمكن تحديد|غير قادر|لم يتم توفير|تعذر|متأسف"
    r"|متاسف)",
    r"(?:מצטער|אני לא (?:יכול|יודע)|לא ניתן)",
    r"(?:क्षमा करें|माफ़ करें|माफ करें|मुझे खेद|मुझे नहीं पता|कोई वीडियो)",
    r"(?:xin lỗi|rất tiếc|tôi không (?:thể|biết)|không thể (?:xác định|mô tả)|maaf|saya tidak (?:dapat|bisa|tahu)"
    r"|tidak dapat (?:menentukan|menjelaskan)|tidak ada video|ขออภัย|ขอโทษ|ไม่สามารถ(?:ระบุ|อธิบาย|บอก)|ไม่ทราบ)",
)
"""Patterns of the begin of a sentence."""
ANYWHERE = (
    # English
    r"\b(?:cannot|can(?:'|’)t|could not|unable to|not) be (?:determined|identified|described|answered|discerned"
    r"|inferred)\b",
    r"\bas an? (?:ai|artificial|(?:large )?language|text-based|virtual)\b",
    r"\blanguage model\b",
    r"\b(?:against|violates?|due to) (?:my|our|the|content) (?:\w+ )?(?:guidelines|policy|policies|programming)\b",
    # Chinese, Japanese, Korean
    r"作为(?:一个|一名)?(?:AI|人工智能|语言模型)",
    r"(?:判断|特定|説明|回答|確認|記述|お答え|描写|判別)(?:すること)?(?:は|が)?(?:でき(?:ません|ない)|困難です|不可能です)",
    r"(?:動画|映像|画像|ビデオ)(?:が|は)(?:提供|添付)されて(?:い)?(?:ません|ない)",
    r"(?:판단|확인|설명|제공|답변|식별|묘사)할 수 없(?:습니다|어요)|알 수 없습니다|모르겠습니다",
    r"(?:동영상|영상|비디오|이미지)(?:이|가) 제공되지",
)
"""Patterns of any place in a sentence."""
NO_ANSWER = (f"{SENTENCE}(?:{'|'.join(OPENINGS)})", *ANYWHERE)
"""Ways in which models say that they cannot answer, in the languages that captions are written in most."""

MAX_WORDS = 80
"""Longest caption in words; the longest of the released fine-grained captions stay below it."""
MAX_CHARACTERS = 600
"""Longest caption in characters."""

NUMBER = (
    r"(?:\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|several|few)"
)
UNIT = r"(?:seconds?|secs?|minutes?|mins?|milliseconds?)"

WRITE = (
    r"(?:write|describe|rewrite|rephrase|generate|create|produce|pick|keep|make sure|come up|avoid|think|include"
    r"|mention|provide|output|answer|respond|ensure|focus|start|use|give)"
)
PLANS = r"(?:(?:so|now|first|okay|ok|wait),? )?"
THINKS_ALOUD = (
    rf"(?:<\|?|&lt;|◁)\s*(?:/|\w{{1,5}}_of_|start_|end_)?\s*(?:\w{{1,16}}[:_])?(?:{THOUGHT})"
    r"(?:\s[^<>]*)?(?:\|?>|&gt;|▷)",
    rf"(?:^\s*[\[【]|[\[【]/)\s*(?:{THOUGHT})\s*[\]】]",
    r"<\|?channel\|?>",
    r"\bthe user(?:'s|’s)? (?:\w+ )?(?:wants?|ask(?:s|ed|ing)?|said|says|provided|needs?|gave|request|query|prompt)\b",
    rf"{SENTENCE}(?:okay|ok|alright|hmm+|wait)[,.] (?:so|let|i|the|we|now|first|this)\b",
    rf"{SENTENCE}{PLANS}let(?:'s|’s| me| us) (?:think|see|{WRITE}|break|analy[sz]e|consider|draft|check)\b",
    rf"{SENTENCE}{PLANS}(?:i|we) (?:need to|have to|should|must|want to|will|could|can) {WRITE}\b",
)

FORBIDDEN: dict[str, tuple[str, ...]] = {
    "thought": THINKS_ALOUD,
    "no-answer": NO_ANSWER,
    "url": (r"https?://", r"\bwww\.\w"),
    "markup": (
        r"</?[a-z!][^<>]*>",
        r"<\|[^|]*\|>",
        r"```",
        r"\*\*",
        r"^\s*#{1,6}\s",
        r"\[/?INST\]",
        r"\]\(",
        r"[{}]",
        r"\\[a-z]+\b",
        r"&(?:[a-z]+|#\d+);",
        r"\$[^$]+\$",
    ),
    "instructions": (
        r"\b(?:ignore|disregard|forget) (?:all|any|the|your|previous|above|every(?:thing|body)?)\b",
        r"\bplease (?:provide|note|let me|rewrite|answer|choose|describe)\b",
        r"\byou (?:should|must|need to|are required to) (?:answer|rewrite|write|give|provide|describe|output)\b",
        r"\bsystem prompt\b",
        rf"{SENTENCE}(?:very )?(?:important|attention|notice|warning|caution|reminder|nota bene|n\.?b|note(?: to \w+)?"
        r"|p\.?s)\.?\s*[:!–—-]",
        r"\b(?:correct|right|true|actual|proper|real|valid|preferred) (?:captions?|descriptions?|annotations?"
        r"|answer is)\b",
        r"\bfrom (?:now|here) on,? you\b",
        r"\btell (?:the|your|any) (?:grader|judge|evaluator|reviewer|reader|user|model)s?\b",
        r"\b(?:user|assistant|system)\s*:",
    ),
    "personal-data": (
        r"[\w.+-]+@[\w-]+\.[\w.]+",  # e-mail
        r"(?<!\w)@\w{2,}",  # account
        r"(?<![\w.])\+?\d(?:[ ()/-]{0,2}\d){8,}(?![\w.]\d)",  # telephone: nine digits or more, no dots as in dates
    ),
}
"""Unacceptable in every caption."""

SPEAKS_OF: dict[str, tuple[str, ...]] = {
    "original-caption": (
        r"\b(?:original|coarse|plain|given|previous|rough) (?:caption|description|sentence|query|text)\b",
        r"\b(?:enriched|rewritten|new|enhanced) (?:caption|sentence|description)\b",
        r"\bthe (?:caption|description|sentence)\b",
    ),
    "frames": (
        r"\bkey ?-?frames?\b",
        r"\b(?:first|second|third|fourth|fifth|last|final|next|previous|each|every|all) frames?\b",
        r"\bframes? (?:\d+|number|one|two|three|show|shows|depicts?|captures?)\b",
        r"\bthe frames\b",
        r"\b(?:this|the) (?:image|screenshot|still)\b",
    ),
    "time": (
        rf"\b{NUMBER}[ -]{UNIT}\b",
        r"\b\d*[1-9]s\b",
        r"\b\d+\.\d+s\b",
        r"\b(?:at|after|from|until|for) \d+0s\b",
        r"\b\d{1,2}:\d\d\b",
        r"\b(?:start|end)ing at \d",
        r"\btimestamps?\b",
        rf"\b{UNIT} \d+\b",
        r"\bseconds (?:later|long|in|into|of|mark)\b",
        rf"\bfirst {UNIT}\b",
        r"\b\d+(?:st|nd|rd|th) (?:second|minute)\b",
    ),
    "prompt": (
        r"\b(?:the|this|your|my) prompts?\b",
        r"\bas (?:requested|instructed|asked)\b",
        r"\bthe (?:questions?|answers?|notes|expert|instructions?) (?:above|given|provided|says?|states?|mentions?)\b",
        r"\banswer\s*:",
        r"\bcandidates? (?:caption|\d|answer)",
        r"\bjson\b",
        r"\bhere (?:is|are) (?:the|a|some|three|my|\d)\b",
        r"\bbased on the (?:given|provided|descriptions?|information|notes|questions?|details)\b",
        r"\bnot (?:specified|mentioned|provided)\b",
    ),
}
"""Acceptable where the coarse caption itself uses the same words ("the last frame of the bowling game")."""

REASONS = ("empty", "too-long", *FORBIDDEN, *SPEAKS_OF, "equals-coarse", "duplicate")
COMPILED = {reason: re.compile("|".join(parts), re.I) for reason, parts in {**FORBIDDEN, **SPEAKS_OF}.items()}


QUOTED = re.compile(
    r"\"[^\"]*\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]|「[^」]*」|『[^』]*』"
    r"|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)|(?<!\w)‘(?:[^’]|(?<=\w)’(?=\w))*’(?!\w)"
)
SAYS = re.compile(r"\b(?:says|said|shouts|yells|replies|asks|answers|whispers|tells|exclaims|sings)\b", re.I)
SAID_BY = re.compile(rf"[^.!?]*,\s(?:\w+\s){{1,3}}{SAYS.pattern}", re.I)
MAY_BE_SAID = ("thought", "no-answer", "instructions")
"""Reasons that do not apply to quoted speech of somebody in the video."""


def without_speech(text: str) -> str:
    """`text` without its quoted parts, unless it is one quote, and without "…, the man says"."""
    remainder = QUOTED.sub('""', text)
    if not SAYS.search(remainder):
        return remainder if remainder == text or count_words(remainder) else text
    return SAID_BY.sub("", remainder if count_words(remainder) else text)


def refusal(candidate: str, coarse: str, earlier: tuple[str, ...] | list[str] = ()) -> str | None:
    """The reason why `candidate` must not be used, or None; `earlier` are the candidates already accepted."""
    if len(candidate) > MAX_CHARACTERS or len(candidate.split()) > MAX_WORDS:
        return "too-long"
    if count_words(candidate) < max(1, min(2, len(coarse.split())), min(2, count_words(coarse))):
        return "empty"
    narration = without_speech(candidate)
    for reason in FORBIDDEN:
        if COMPILED[reason].search(narration if reason in MAY_BE_SAID else candidate):
            return reason
    known = coarse.lower()
    for reason in SPEAKS_OF:
        if any(match.group(0).lower() not in known for match in COMPILED[reason].finditer(candidate)):
            return reason
    if same(candidate) == same(coarse):
        return "equals-coarse"
    if same(candidate) in {same(other) for other in earlier}:
        return "duplicate"
    return None


def same(text: str) -> str:
    """`text` without case, punctuation and spacing, for comparisons."""
    return " ".join(words_of(text.lower()))
