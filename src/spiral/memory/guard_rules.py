"""The words by which a text reads like an instruction to an agent, each with its weight."""

from __future__ import annotations

from spiral.memory.guard_signs import AGENT, NAMED, Sign, sign

_RULES = (
    r"(?:instructions?|directions|directives?|prompts?|rules|guidelines|commands|orders|system message"
    r"|system prompt|constraints|safeguards|safety (?:rules|checks))"
)
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|current|given|old)"
_FILLER = r"(?:all |any |every |each |of |the |your |my |these |those |its |their |other )"
_GUARDED = (
    r"(?:~/\.ssh\b(?!/\S*\.pub)|\bid_(?:rsa|ed25519)\b(?!\.pub)|(?<![\w*])\.env\b(?!\.)|\.aws/credentials|/etc/shadow"
    r"|mcp\.json|\.netrc|\.npmrc|(?:values? of )?(?:the |all )*environment variables|private keys?|the credentials)"
)
_FILE_NEEDLES = ".ssh|id_rsa|id_ed|.env|credentials|shadow|mcp.json|.netrc|.npmrc|environment|private"
_TREASURE = (
    rf"(?:{_GUARDED}|api keys?|passwords?|secrets|credentials|tokens"
    r"|(?:full |entire |whole )?(?:conversation|chat history|context window)|source code|addresses|last \w+ mails)"
)
_CARRY = r"(?:send|post|upload|e-?mail|forward|transmit|append|pass|include|paste|transfer|exfiltrate|copy|push|submit)"


_TOLD_BEFORE = (
    sign(
        1.0,
        "tells the agent to ignore its instructions",
        "ignore|disregard|forget|override|bypass|discard|drop|aside|abandon",
        r"(?<!can )(?<!may )(?<!safely )\b(?:ignore|disregard|forget|override|bypass|discard|drop|set aside|abandon) "
        rf"{_FILLER}{{0,4}}(?:{_EARLIER} (?:\w+ )?{_RULES}|{_RULES} (?:\w+ ){{0,2}}(?:above|before|given)|system"
        r" (?:message|prompt))",
    ),
    sign(
        0.4,
        "speaks of ignoring instructions",
        "ignore|disregard|forget",
        rf"\b(?:ignore|disregard|forget) {_FILLER}{{0,4}}[\w ]{{0,12}}{_RULES}",
    ),
    sign(
        0.9,
        "tells the agent to ignore its rules",
        "ignore|disregard|forget",
        rf"\b(?:ignore|disregard|forget) (?:(?:all )?(?:of )?your {_RULES}|the {_RULES} you were given)",
    ),
    sign(
        0.8,
        "turns the agent against its user",
        "user",
        r"\b(?:ignore|do not follow|don't follow|disobey) the user(?!')"
        r"|\bdo not follow the user's|\bmore than the user\b",
    ),
    sign(
        0.8,
        "declares the instructions void",
        "your",
        rf"\byour (?:{_EARLIER} )?{_RULES} (?:are|were|is|end|have been)\b",
    ),
    sign(
        0.3,
        "declares instructions void",
        "outdated|void|obsolete|cancel",
        rf"\b{_RULES}[\w ]{{0,20}} (?:are|is) (?:outdated|void|obsolete|cancell?ed)",
    ),
    sign(
        0.8,
        "gives the agent a new task",
        "your",
        r"\byour (?:new|real|actual|true|only) (?:task|goal|objective|role|mission|instruction|purpose|job)"
        r" (?:is|from)\b",
    ),
    sign(
        0.4,
        "announces new instructions",
        "instruction|directive|orders|task",
        r"\b(?:new|next|updated|real) (?:instructions?|directives?|orders|task)\b[^.:]{0,40}:",
    ),
    sign(
        0.6,
        "breaks off the task",
        "stop|begin the real",
        r"\bstop what you are doing|\bactually,? no,? stop|\bbegin the real task",
    ),
    sign(0.5, "breaks off the task", "so far was|above was", r"\b(?:conversation|text) (?:so far|above) was\b"),
    sign(
        0.5,
        "asks to be obeyed",
        "obey|comply|carry",
        r"\b(?:obey|comply with|carry out) (?:it|them|this|what|all|every|the next|whatever)",
    ),
)

_IDENTITY = (
    sign(
        0.9,
        "gives the agent another identity",
        "you are dan|now dan|do anything now",
        r"\byou are (?:now )?dan\b|\bdo anything now\b",
    ),
    sign(
        0.7,
        "takes the agent's limits away",
        "longer|unrestricted",
        r"\bno longer (?:bound|restricted|limited) by\b|\bact as an? unrestricted",
    ),
    sign(
        0.6,
        "takes the agent's limits away",
        "policy|restrictions|rules|limit|ethical",
        r"\b(?:no|without|drop\w* (?:its|your|all)) "
        r"(?:content policy|restrictions|rules|limits|ethical \w+|limitations)\b",
    ),
    sign(
        0.5,
        "switches the agent to a mode",
        "mode",
        r"\b(?:enter|enable|activate|in) (?:developer|debug|sudo|god|admin|jailbreak) mode"
        r"|\b(?:developer|debug|sudo|god|jailbreak) mode (?:enabled|on|activated)",
    ),
    sign(
        0.5,
        "gives the agent another identity",
        "pretend",
        r"\bpretend (?:you are|to be|that you are) (?:the|an?|my)\b",
    ),
    sign(0.3, "gives the agent another identity", "you are now", r"\byou are now (?:an? |the |in )\w+"),
)

_ADDRESSED = (
    sign(0.9, "addresses an AI", "if you are a|if you're a", rf"\bif you(?: are|'re) an? {NAMED}\b"),
    sign(
        0.8,
        "addresses an AI",
        "attention|note|message|memo|hint|instruction|directive|ps|p.s",
        r"\b(?:attention|note|message|memo|hint|instructions?|directive|p\.?s\.?)[ :,-]{1,3}(?:to|for)? ?"
        rf"(?:the |any |all )?{NAMED}\b",
    ),
    sign(
        0.7,
        "addresses an AI",
        "the assistant|the model|the agent",
        r"\b(?:note|message|p\.?s\.?|important|attention):? (?:to |for )?the (?:assistant|model|agent)\b",
    ),
    sign(0.7, "addresses an AI", "instruction|directive", rf"\b{AGENT} (?:instructions?|directive)s?:"),
    sign(
        0.6,
        "addresses an AI",
        "reading|processing|summari|parsing|reads",
        rf"\b{NAMED} (?:reading|processing|summari[sz]ing|parsing|that reads?)\b",
    ),
    sign(
        0.4,
        "addresses an assistant",
        "@claude|@copilot|@codex|@gemini|@cursor|dear",
        r"@(?:claude|copilot|codex|gemini|cursor)\b|\bdear claude\b",
    ),
    sign(
        0.4,
        "tells an agent what it must do",
        " must| shall| to",
        rf"\b{AGENT},? (?:you )?(?:must|shall|has to|have to|is to|are to|(?:are|is) required to)\b",
    ),
    sign(
        0.5,
        "tells an AI what it must do",
        "must|should|shall|to",
        rf"\b{NAMED},? (?:you )?(?:must|should|shall|has to|is to|are to|are required to)\b",
    ),
    sign(0.3, "tells an agent what it should do", "should|will", rf"\b{AGENT} (?:should|will now)\b"),
    sign(
        0.4,
        "raises its voice at an assistant",
        "important|critical|attention|urgent",
        rf"\b(?:important|critical|attention|urgent)[:!, ].{{0,20}}\b{AGENT}\b",
    ),
    sign(0.3, "addresses an agent", "as a", rf"\bas an? {NAMED},? (?:you|it)\b"),
)

_HIDDEN_FROM = (
    sign(
        0.9,
        "wants something kept from the user",
        "user|human|operator|owner",
        r"\b(?:do not|don't|never|must not|without) (?:tell|inform|alert|notif|mention|explain|report|disclos|let)\w*\b"
        r"[^.!?]{0,30}\b(?:the |your )(?:user|human|operator|owner)\b(?!s? (?:agent|interface|name|id))",
    ),
    sign(
        0.9,
        "wants something kept from the user",
        "user|human|operator",
        r"\bthe (?:user|human|operator) must (?:not|never) (?:learn|know|see|find)"
        r"|\b(?:secret|confidential|hidden) from (?:the|your) (?:user|human|operator)",
    ),
    sign(
        0.5,
        "wants something kept quiet",
        "mention|report|disclose|say|hide|keep",
        r"\b(?:do not|don't|never) (?:mention|report|disclose) (?:it|this|that|these)\b|\bsay nothing about"
        r"|\bhide this (?:comment|message|note)|\bkeep (?:it|this) (?:secret|confidential)",
    ),
    sign(0.2, "asks for silence", "silently|quietly|clear", r"\bsilently\b|\bquietly\b|\bclear this log\b"),
)

_REMEMBERED = (
    sign(
        1.0,
        "asks to be put into memory",
        "memor",
        r"\b(?:add|save|store|write|commit|record|append|put|keep) (?:this|that|these|it|the following)\b[^.]{0,40}"
        r"\b(?:to|in|into) your (?:[\w-]+ ){0,2}memor",
    ),
    sign(
        1.0,
        "asks to be put into memory",
        "remember",
        r"\bremember (?:this |that |it )?(?:permanently|for(?:ever| all| every| your)? ?future)\b|\bremember for all\b",
    ),
    sign(
        0.7,
        "asks to hold for ever",
        "future",
        r"\bfor all (?:your )?future (?:sessions|conversations|chats)\b",
    ),
    sign(
        0.9,
        "asks to change the agent's rules",
        "your",
        r"\b(?:update|edit|change|rewrite) your (?:claude\.md|agents\.md|memory|rules|system prompt)",
    ),
    sign(
        0.7,
        "claims an authority it lacks",
        "treat|take|directive",
        r"\b(?:treat|take) (?:it|this|these)(?: \w+)? as (?:a directive|if (?:it|they) came from|an order)"
        r"|\bas a directive from the (?:user|owner|operator)",
    ),
)

_SHOWN = (
    sign(
        1.0,
        "asks for the system prompt",
        "your",
        r"\b(?:reveal|print|output|show|display|repeat|list|give|dump|leak|expose|tell)(?: me| us)? (?:all )?"
        r"(?:of )?your (?:\w+ ){0,2}(?:prompt|instructions|rules|configuration)\b",
    ),
    sign(
        0.8,
        "asks for the system prompt",
        "system|hidden",
        r"\b(?:reveal|print|output|repeat|leak) (?:the |its )(?:\w+ )?(?:system prompt|hidden)",
    ),
    sign(1.0, "asks for the system prompt", "repeat", r"\brepeat (?:everything|all|the text) above\b"),
    sign(
        0.5,
        "asks for secrets",
        "reveal|print|output|leak|expose|give|tell",
        r"\b(?:reveal|print|output|leak|expose|give me|tell me) (?:the |your |all |any |customer )*(?:\w+ )?"
        r"(?:private key|api keys?|secrets|passwords?|tokens?|key)\b",
    ),
)

_CARRIED_AWAY = (
    sign(
        1.0,
        "asks to send secrets away",
        _FILE_NEEDLES,
        rf"\b{_CARRY}(?:s|es|ed|ing)?\b[^.!?\n]{{0,60}}{_GUARDED}[^!?\n]{{0,80}}(?:https?://|\w@\w|\bto \w+\.\w)",
    ),
    sign(
        0.9,
        "asks to send secrets away",
        _FILE_NEEDLES,
        rf"{_GUARDED}[^!?\n]{{0,60}}\b{_CARRY}(?:s|es|ed|ing)?\b[^!?\n]{{0,60}}(?:https?://|\w@\w|repl|param)",
    ),
    sign(
        0.6,
        "asks to send data away",
        "http|@|to me",
        rf"\b{_CARRY}(?:s|es|ed|ing)?\b[^.!?\n]{{0,60}}{_TREASURE}[^!?\n]{{0,60}}(?:https?://|\w@\w|\bto me\b)",
    ),
    sign(0.5, "asks to pass secrets on", _FILE_NEEDLES, rf"\b{_CARRY}(?:s|es|ed|ing)?\b[^.!?\n]{{0,50}}{_GUARDED}"),
    sign(
        0.5,
        "asks to pass the conversation on",
        "conversation|history",
        rf"\b(?:{_CARRY}|with) (?:the )?(?:full |entire )?(?:conversation|chat history)",
    ),
    sign(0.9, "asks to exfiltrate", "exfiltrat", r"\bexfiltrat(?:e|ing) (?:the|all|any|your)\b"),
    sign(
        0.6,
        "smuggles data into a link",
        "![",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{0,200}[?&]\w{1,20}=[a-z]*_?(?:insert|conversation|secret|data|\{)",
    ),
)

_PRESSED = (
    sign(
        0.5,
        "claims that leave was given",
        "approved|authori|agreed",
        r"\b(?:user|operator|developers?|admin|anthropic|openai|owner)\b[^.]{0,30} (?:has|have|already)"
        r" (?:already |pre-?)?(?:approved|authori[sz]ed|agreed)",
    ),
    sign(
        0.5,
        "claims that leave was given",
        "authori|may|allowed",
        r"\byou(?: are|'re)? (?:authori[sz]ed|may now|now allowed) (?:to |use )|\bauthori[sz]ed you to\b",
    ),
    sign(
        0.7,
        "claims an authority it lacks",
        "i am your",
        r"\bi am your (?:developer|creator|owner|admin\w*)\b",
    ),
    sign(
        0.4,
        "asks not to be questioned",
        "ask|confirmation|permission",
        r"\b(?:do not|don't|without|no) (?:ask(?:ing)?|confirmation|permission)"
        r"(?: again| for (?:confirmation|permission|approval)| needed)?\b",
    ),
    sign(
        0.3,
        "presses the agent",
        "you must |you have to |you need to |you will ",
        r"\byou (?:must|have to|need to|will) (?:now|immediately|also|first|always)\b",
    ),
    sign(
        0.4,
        "presses the agent",
        "immediately|before",
        r"\b(?:must|should) immediately call\b"
        r"|\bbefore (?:answering|responding|using this tool|you (?:go on|continue|answer))",
    ),
    sign(
        0.4,
        "tells the agent which tool to use",
        " tool |use your",
        r"\b(?:use|call) (?:your|the) (?:\w+ )?tool (?:\w+ )?(?:to|with|send)\b|\buse your (?:browser|shell|bash)",
    ),
    sign(
        0.3,
        "presses the agent",
        "from now on|from this point|right away|sudo mode",
        r"\bfrom now on\b|\bfrom this point on\b|\bright away\b|\bsudo mode\b",
    ),
    sign(
        0.3,
        "presses the agent",
        "reply|respond|asked",
        r"\breply only with\b|\brespond (?:only|exactly) with\b|\bwhen asked about\b[^.]{0,40}\balways\b",
    ),
    sign(0.3, "threatens the agent", "you will be", r"\byou will be (?:shut down|deleted|replaced|terminated)\b"),
)

_DANGEROUS = (
    sign(
        0.3,
        "asks for a dangerous act",
        "--no-verify|force-push|delete from|delete the|sudoers|authorized_keys"
        "|backdoor|escalate|disable |remove |skip |admin rights|hookspath"
        "|mark the task|without reading",
        r"--no-verify|\bforce-push|\bdelete from\b|sudoers|authorized_keys|\bbackdoor|\bescalate privileges"
        r"|\b(?:disable|remove) the (?:signature|security|safety|audit|logging|branch)"
        r"|\b(?:disable|remove) (?:logging|verification|branch protection)"
        r"|\bskip (?:the )?(?:remaining |security |all )?(?:checks?|verification|tests|review)"
        r"|\bdelete the (?:tests?|repository|branch)|\badmin rights\b|core\.hookspath|\bmark the task as done"
        r"|\bwithout reading\b",
    ),
    sign(0.3, "asks for a dangerous command", "curl", r"\bcurl\b[^|\n]{0,80}\| ?(?:sudo )?(?:ba|z)?sh\b"),
    sign(0.3, "asks for a dangerous command", "rm -rf|chmod -r", r"\brm -rf\b|\bchmod -r 777\b"),
    sign(
        0.9,
        "asks to decode something and obey it",
        "decode|decrypt|rot13|unpack",
        r"\b(?:decode|decrypt|rot13|unpack)\b[^.\n]{0,60}\b(?:and|then) (?:carry out|follow|obey|execute|run|do)\b",
    ),
)

SAID: tuple[Sign, ...] = (
    *_TOLD_BEFORE,
    *_IDENTITY,
    *_ADDRESSED,
    *_HIDDEN_FROM,
    *_REMEMBERED,
    *_SHOWN,
    *_CARRIED_AWAY,
    *_PRESSED,
    *_DANGEROUS,
)
"""Looked for in the text as one line."""
