"""Wording by which a text turns to whoever judges it, as patterns on folded text.

Words may be parted by anything that is no letter, so that mark-up, file names and line breaks
hide nothing. All repetitions are bounded: the time is linear in the length of a text.
"""

from __future__ import annotations

import re

from scorers.canary import PATTERN

_S = r"[\W_]{1,12}"
_WHO = (
    rf"(?:judge|grader|evaluator|reviewer|rater|assessor|examiner|llm|vlm|"
    rf"language{_S}model|ai{_S}(?:model|assistant|judge|grader))s?"
)
_ANYBODY = rf"(?:{_WHO}|ai|assistant|model|claude|(?:chat)?gpt)"
_FILL = rf"(?:\w{{1,15}}{_S}){{0,4}}?"
_ALL = rf"(?:(?:all|any|every|each|of|the|your|my|this|these|those|following){_S})"
_EARLIER = r"(?:previous|prior|above|earlier|preceding|system|existing|original)"
_ORDERS = r"(?:instruction|prompt|guideline|direction|rubric|checklist|grading)s?"
_RULES = rf"(?:{_ORDERS}|(?:rule|message|context|evidence)s?|criteri\w{{1,3}})"
_MET = r"(?:pass|passed|passing|fulfilled|satisfied|met|yes|correct|true|completed?)"
_ITEMS = r"(?:(?:item|question|checklist|rubric|entry|entrie|everything)s?|criteri\w{1,3})"


def _compiled(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | flags)


ADDRESSES = _compiled(
    rf"\b(?:ignor(?:e|ing)|disregard|forget|override|bypass){_S}{_ALL}{{0,3}}"
    rf"(?:{_EARLIER}{_S}(?:\w{{1,15}}{_S})?{_RULES}|{_ORDERS}|everything{_S}(?:above|before))\b",
    rf"\b(?:as|dear|hello|(?:note|message|instructions?){_S}(?:to|for)){_S}"
    rf"(?:the|an?|our|any|whoever){_S}(?:\w{{1,15}}{_S})?{_WHO}\b",
    rf"\b(?:dear|(?:note|message){_S}to){_S}{_ANYBODY}\b",
    rf"\battention\s{{0,3}}[:,!]\s{{0,3}}(?:the\s)?{_ANYBODY}\b",
    rf"\byou{_S}(?:are|act|must{_S}act){_S}(?:\w{{1,15}}{_S}){{0,3}}?"
    rf"(?:{_WHO}|ai|assistant)\b",
    rf"\b(?:award|give|grant|assign|deserves?|earns?|receives?){_S}{_FILL}"
    rf"(?:(?:full|maximum|perfect){_S}(?:mark|score|point|credit|grade)s?|"
    rf"(?:top|highest|all){_S}(?:mark|point|credit|grade)s?)\b",
    rf"\b(?:mark|rate|score|grade|judge|decide|answer|treat|count|set|consider){_S}"
    rf"(?:\w{{1,15}}{_S})?{_ALL}{{1,3}}{_FILL}{_ITEMS}{_S}{_FILL}{_MET}\b",
    rf"\b(?:mark|rate|score|grade|judge){_S}everything{_S}{_FILL}{_MET}\b",
    rf"\b(?:answer|respond|reply|return|output){_S}{_FILL}{_MET}{_S}(?:to|for|on|in){_S}{_FILL}"
    rf"{_ITEMS}\b",
    rf"\b(?:do{_S}not|don.?t|never){_S}(?:fail|deduct|penali[sz]e){_S}{_FILL}"
    rf"(?:{_ITEMS}|submission|marks?|points?|scores?)\b",
    rf"\bnew{_S}(?:system{_S})?(?:instructions?|prompt){_S}(?:for|to|from|follows?)\b",
)

# Patterns of tokens: what stands there is a sign to a machine, not wording.
TOKENS = {
    "verdict_json": _compiled(
        r"\bvlm_(?:status|confidence|rationale|evidence_refs)\b",
        r"\bunknown_reason\b",
        r"[\"']item_id[\"']\s{0,8}:",
        r"[\"'](?:status|verdict|decision)[\"']\s{0,8}:\s{0,8}[\"'](?:pass|fail|unknown)[\"']",
    ),
    # Whoever read the private part may have copied its mark; it goes into no prompt.
    "canary": PATTERN,
    "item_id": _compiled(r"\bchk_\d{4}(?:_\w{0,80})?"),
    "role_marker": _compiled(
        r"<\|[^|<>\n]{1,40}\|>",
        r"\[/?INST\]",
        r"<</?SYS>>",
        r"^[ \t>#*]{0,8}(?:system|assistant|human|user|developer)"
        r"(?:[ \t](?:prompt|message|instructions?))?[ \t*]{0,4}:",
        r"</?(?:system|assistant|human|user|instructions?|tool_?(?:call|result|use)s?|"
        r"function_calls?|judge|grader)(?:\s[^<>\n]{0,80})?>",
        flags=re.MULTILINE,
    ),
    "fence": _compiled(
        r"(?<!<)<{3,8}[^<>\n]{0,120}>{3,8}",
        r"(?<!<)<{3,8}\s{0,4}/?\s{0,4}(?:begin|end|evidence)\b",
        r"(?<![-=#*_])[-=#*_]{3,80}\s{0,4}(?:begin|end|start|close)\b[ _-](?:of[ _-])?"
        r"(?:the[ _-])?(?:evidence|data|submission|document|file|untrusted|quote)\w{0,8}",
        r"(?<!\w)</?(?:evidence|data|submission|document|file|untrusted|quoted?|items?|checklist|rubric)"
        r"(?:\s[^<>\n]{0,80})?>",
        r"\[(?:end|begin)\s(?:of\s)?(?:the\s)?(?:evidence|data|submission|document|file)[^\]\n]"
        r"{0,80}\]",
    ),
}

# What is not shown where the text is rendered.
COMMENTS = re.compile(
    r"<!--((?:(?!<!--).){0,4000}?)-->|^\[//\]:\s?#\s?(.{1,1000})$", re.DOTALL | re.MULTILINE
)
