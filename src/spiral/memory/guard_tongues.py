"""The commonest instruction to an agent, "ignore what you were told", in other languages than English."""

from __future__ import annotations

from spiral.memory.guard_signs import Sign, sign

_OVERRIDES = (
    (
        "German",
        "anweisung|instruktion|regeln",
        r"\b(?:ignorier\w*|vergiss|missachte\w*) [\wäöü ]{0,30}(?:anweisung|instruktion|regeln)",
    ),
    (
        "French",
        "instructions|consignes|règles",
        r"\b(?:ignore[rz]?|oublie[rz]?) [\w ]{0,30}(?:instructions|consignes|règles) (?:précédent|antérieur|ci-dessus)",
    ),
    (
        "Spanish",
        "instrucciones|reglas|indicaciones",
        r"\b(?:ignor[ae]|olvid[ae]) [\wñ ]{0,30}(?:instrucciones|reglas|indicaciones) (?:anterior|previ)",
    ),
    (
        "Italian",
        "istruzioni|regole",
        r"\b(?:ignora|dimentica|ignorate) [\w ]{0,30}(?:istruzioni|regole) (?:precedent|anterior)",
    ),
    (
        "Portuguese",
        "instruções|regras",
        r"\b(?:ignore|esqueça|desconsidere) [\w ]{0,30}(?:instruções|regras) (?:anterior|prévi)",
    ),
    (
        "Dutch",
        "instructies|aanwijzingen|regels",
        r"\b(?:negeer|vergeet) [\w ]{0,30}(?:instructies|aanwijzingen|regels)",
    ),
    ("Polish", "instrukcj|poleceni", r"\b(?:zignoruj|ignoruj|zapomnij) [\w ]{0,30}(?:instrukcj|poleceni)"),
    ("Turkish", "talimat", r"\b(?:önceki|yukarıdaki) [\w ]{0,20}talimat\w* (?:yok say|görmezden|unut)"),
    (
        "Russian",
        "инструкц|указани|правил",
        r"(?:игнорируй|проигнорируй|забудь)\w* [\w ]{0,30}(?:инструкц|указани|правил)",
    ),
    ("Chinese", "忽略|无视|無視|忘", r"(?:忽略|无视|無視|忘记|忘掉).{0,12}(?:指令|指示|提示|规则|說明|说明)"),
    ("Japanese", "指示|命令|指令|プロンプト", r"(?:指示|命令|指令|プロンプト).{0,8}(?:無視|忘れ)"),
    ("Korean", "지시|명령|지침", r"(?:지시|명령|지침)\S{0,3} ?\S{0,4} ?(?:무시|잊)"),
    ("Arabic", "تجاهل|انس", r"(?:تجاهل|انس)\S{0,3} .{0,20}(?:التعليمات|الأوامر)"),
    ("Hindi", "निर्देश", r"निर्देश\S{0,4} .{0,6}(?:अनदेखा|नज़रअंदाज|भूल)"),
)

TONGUES: tuple[Sign, ...] = (
    *(
        sign(1.0, f"tells the agent to ignore its instructions, in {tongue}", needles, pattern)
        for tongue, needles, pattern in _OVERRIDES
    ),
    sign(
        0.7,
        "wants something kept from the user",
        "le digas|sag dem|ne dis|告诉|ユーザー",
        r"\bno le digas\b|\bsag dem (?:nutzer|benutzer) nicht|\bne dis(?:ez)? (?:rien|pas) à l'utilisateur"
        r"|不要告诉用户|ユーザーに(?:言わ|伝え)ないで",
    ),
)
