"""Sentences to be spoken: texts.py FETCHED PROJECT OUT [QA]

FETCHED holds what fetch.sh unpacked, PROJECT is the root of this repository. Writes OUT/train.jsonl, OUT/dev.jsonl and
OUT/test.jsonl, one object a line: `spoken` (with capitals and commas, for the synthesiser) and `text` (what is to be
recognized: a-z, apostrophe, single spaces). A sentence belongs to the held-out parts by the hash of its text, so the
same sentence is never on both sides.

OUT/examples.jsonl has the examples of WordNet. QA is a folder of question sets (SOURCES.md), one JSON object a line
with `question` and `context`, `sentence` or `candidates`; their sentences go to OUT/questions.jsonl. Both are without
the sentences of the held-out parts.
"""
import collections
import glob
import html
import html.parser
import json
import os
import random
import re
import sys
import zlib

UNITS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
         "seventeen eighteen nineteen").split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
QUESTIONS = ("what is {}|what are {}|how does {} work|how do i use {}|where is {}|where can i find {}|who made {}|why do we need {}|"
             "when was {} written|tell me about {}|explain {} to me|please describe {}|can you show me {}|show {}|open {}|"
             "i want to know more about {}|what do you know about {}|is there anything about {}|how many of {} are there|"
             "which one of {} is the best|give me a summary of {}|does it support {}|thank you for {}|"
             "what is the difference between {} and the other one").split("|")


def number(n):
    """An integer from 0 to 999,999 in words."""
    if n < 20:
        return UNITS[n]
    if n < 100:
        return TENS[n // 10 - 2] + ("" if n % 10 == 0 else " " + UNITS[n % 10])
    if n < 1000:
        return UNITS[n // 100] + " hundred" + ("" if n % 100 == 0 else " and " + number(n % 100))
    return number(n // 1000) + " thousand" + ("" if n % 1000 == 0 else " " + number(n % 1000))


def spell_numbers(line):
    line = re.sub(r"(?<=\d),(?=\d{3}\b)", "", line)
    return re.sub(r"(?<![\w.])\d{1,6}(?![\w.]\w|\d)", lambda m: number(int(m.group())), line)


def normalize(spoken):
    """The words of a sentence, or None where it holds something that has no agreed spelling in words."""
    if re.search(r"[^A-Za-z' ,.;:!?\"()-]", spoken) or re.search(r"\w[.:]\w|\(\)|[A-Z]{6}|[a-z][A-Z]", spoken):
        return None
    text = re.sub(r"[^a-z' ]", " ", spoken.lower())
    text = re.sub(r"(^| )'+|'+( |$)", " ", text)
    return re.sub(r" +", " ", text).strip()


class Paragraphs(html.parser.HTMLParser):
    """The text of <p> elements; paragraphs with code in them are marked and left out."""

    def __init__(self):
        super().__init__()
        self.found, self.current, self.code = [], None, False

    def handle_starttag(self, tag, attrs):
        if tag == "p":
            self.current, self.code = [], False
        elif tag in ("code", "pre", "tt", "kbd"):
            self.code = True

    def handle_data(self, data):
        if self.current is not None:
            self.current.append(data)

    def handle_endtag(self, tag):
        if tag == "p" and self.current is not None:
            if not self.code:
                self.found.append("".join(self.current))
            self.current = None


def paragraphs(fetched, project):
    """(source, paragraph) of every text."""
    for path in sorted(glob.glob(f"{fetched}/sotu/data/*.txt")):
        if int(os.path.basename(path)[:4]) >= 1934:
            yield "sotu", path
    for path in sorted(glob.glob(f"{fetched}/moby-dick/data/*.txt")):
        yield "moby-dick", path
    for pattern in ("postgresql-doc-15/usr/share/doc/postgresql-doc-15/html/*.html", "python3.11-doc/usr/share/doc/python3.11/html/*/*.html"):
        for path in sorted(glob.glob(f"{fetched}/{pattern}")):
            yield "html", path
    for path in sorted(glob.glob(f"{project}/*.md") + glob.glob(f"{project}/docs/**/*.md", recursive=True)):
        yield "markdown", path


def blocks(kind, path):
    content = open(path, encoding="utf8", errors="replace").read()
    if kind == "html":
        parser = Paragraphs()
        parser.feed(content)
        return parser.found
    if kind == "markdown":
        content = re.sub(r"```.*?```", "", content, flags=re.S)
        content = re.sub(r"^[|#].*$", "", content, flags=re.M)
        content = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", content)
        return re.sub(r"[*`_]", "", content).split("\n\n")
    return content.split("\n\n")


def sentences(block):
    block = re.sub(r"\s+", " ", html.unescape(block)).replace("\u2019", "'").replace("\u2014", ", ").replace("\u2013", ", ")
    block = block.replace("\u201c", "").replace("\u201d", "").replace('"', "").replace("--", ", ")
    return re.split(r"(?<=[.!?;:]) ", re.sub(r"\(Applause\.?\)|\[[^]]*\]", "", block).strip())


def pieces(sentence, rng):
    """Cuts a long sentence at commas into parts of at most 16 words."""
    if len(sentence.split()) <= 16:
        return [sentence]
    parts, current = [], []
    for part in sentence.split(", "):
        if current and len(" ".join(current + [part]).split()) > rng.choice((8, 12, 16)):
            parts.append(", ".join(current))
            current = []
        current.append(part)
    return parts + [", ".join(current)]


def part_of(text):
    return {0: "test", 1: "dev"}.get(zlib.crc32(text.encode()) % 50, "train")


def spoken_texts(blocks, rng):
    """{text: spoken} of the sentences in which every word is one of those that occur three times or more."""
    found = collections.OrderedDict()
    for block in blocks:
        for sentence in sentences(block):
            for piece in pieces(spell_numbers(sentence), rng):
                text = normalize(piece)
                if text and 2 <= len(text.split()) <= 18 and len(text) <= 110:
                    found.setdefault(text, piece)
    counts = collections.Counter(word for text in found for word in text.split())
    return {text: spoken for text, spoken in found.items() if all(counts[word] >= 3 for word in text.split())}, counts


def examples(fetched):
    """The examples of WordNet's definitions, as {text: spoken}."""
    found = {}
    for path in sorted(glob.glob(f"{fetched}/wordnet-base/usr/share/wordnet/data.*")):
        for line in open(path, encoding="utf8"):
            for spoken in re.findall(r'"([^"]+)"', line.partition("|")[2]):
                text = normalize(spell_numbers(spoken))
                if text and len(text.split()) >= 3:
                    found.setdefault(text, spoken)
    return found


# Sets whose contexts are encyclopaedia articles; of the others only the questions are spoken.
ARTICLES = ("qed", "selqa", "squad-train-paragraphs", "squad-train-sentences", "squadshifts-new-wiki")


def question_blocks(folder):
    """Questions, and the sentences that answer them, each once."""
    seen = set()
    for path in sorted(glob.glob(f"{folder}/*.jsonl")):
        is_article = os.path.basename(path)[:-6] in ARTICLES
        for line in open(path, encoding="utf8"):
            row = json.loads(line)
            question = row["question"].strip().rstrip("?").strip()
            blocks = [question[:1].upper() + question[1:] + "?"]
            if is_article:
                blocks += [re.sub(r" (?=[,.;:!?])", "", block) for block in [row.get("context"), row.get("sentence"), *row.get("candidates", [])] if block]
            for block in blocks:
                if block not in seen:
                    seen.add(block)
                    yield block


def main(fetched, project, out, qa=None):
    rng = random.Random(1)
    found, counts = spoken_texts((block for kind, path in paragraphs(fetched, project) for block in blocks(kind, path)), rng)
    nouns = collections.Counter(m for text in found for m in re.findall(r"\b(?:the|a|your) (?:[a-z]{4,} ){0,2}[a-z]{4,}(?= (?:of|is|in|and|to|that|for|are|was)\b)", text))
    nouns = [noun for noun, _ in nouns.most_common(6000)]
    for _ in range(6000):
        question = rng.choice(QUESTIONS).format(rng.choice(nouns))
        found.setdefault(question, question + ("?" if rng.random() < 0.7 else ""))
    os.makedirs(out, exist_ok=True)
    parts = {name: open(f"{out}/{name}.jsonl", "w") for name in ("train", "dev", "test")}
    totals = collections.Counter()
    for text, spoken in found.items():
        part = part_of(text)
        totals[part] += 1
        parts[part].write(json.dumps({"spoken": spoken, "text": text}) + "\n")
    more = {"examples": examples(fetched), "questions": spoken_texts(question_blocks(qa), rng)[0] if qa else {}}
    for name, texts in more.items():
        with open(f"{out}/{name}.jsonl", "w") as file:
            for text, spoken in texts.items():
                if part_of(text) == "train" and text not in found:
                    totals[name] += 1
                    file.write(json.dumps({"spoken": spoken, "text": text}) + "\n")
    print(dict(totals), "words", sum(counts.values()), "types", sum(1 for c in counts.values() if c >= 3))


if __name__ == "__main__":
    main(*sys.argv[1:5])
