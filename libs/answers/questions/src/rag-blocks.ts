/** The context of a prompt, and the text around it. */
export interface ContextBlock {
  readonly before: string;
  readonly text: string;
  readonly after: string;
  /** The context has a label or a tag of its own. */
  readonly isLabelled: boolean;
}

/** What prompts call a context. */
export const noun = String.raw`(?:contexts?|documents?|search[ _-]results?|results|sources?|passages?|knowledge(?:[ _-]base)?|excerpts?|snippets?|references?|articles?|extracts?|chunks?|facts|information|background|materials?|evidence|paragraphs?|texts?)`;
const contextTag = new RegExp(
  String.raw`<((?:[a-z]+[_-])?(?:contexts?|documents?|docs?|sources?|search[_-]results?|results?|passages?|knowledge(?:[_-]base)?|excerpts?|snippets?|references?|articles?|chunks?|background|information))(?:\s[^<>]{0,400})?>`,
  'gi',
);
const questionTag =
  /<((?:user[_-]|the[_-])?(?:question|query|input|request|message))>([\s\S]{1,4000}?)<\/\1>/i;
const decoration = String.raw`[ \t#*_>=\[-]*`;
const modifier = String.raw`(?:(?:retrieved|relevant|provided|given|search|additional|the|following|reference|supporting|source|here (?:is|are)(?: the| some)?|some|background|useful|context|our|local|external|document|knowledge base)[ \t]+){0,5}`;
/** A line, or the end of one, that only names the context. */
const label = new RegExp(
  String.raw`(?:^|(?<=[.!?][ \t]))${decoration}${modifier}${noun}(?:[ \t]+(?:information|documents|data|below|passages|is below|are below|is|are|content|found|excerpts|retrieved|articles))*[ \t\]*_=]*:[ \t*_=\]]*`,
  'gim',
);
const heading = new RegExp(
  String.raw`^[ \t]*(?:#{1,6}[ \t]|\*\*)[ \t]*${modifier}${noun}[^\n.?!]{0,30}$`,
  'gim',
);
/** An instruction that ends with a colon: "Answer the question based only on the following context:". */
const announcement = new RegExp(String.raw`^[^\n]{0,400}?\b${noun}\b[^\n:.?!]{0,60}:[ \t*_]*$`, 'gim');
/** A line of dashes, of quotation marks or a fence after a line about the context. */
const fenceAfter = new RegExp(
  String.raw`^[^\n]{0,600}\b${noun}\b[^\n]{0,200}\n\s*(-{3,}|={3,}|\`{3,}|"{3}|'{3}|~{3,}|\*{3,})[^\n]{0,20}\n`,
  'im',
);
const closing = new RegExp(
  String.raw`^[ \t#*=\[(-]*(?:the )?(?:above|end(?: of)?|that (?:is|was))\b[^\n]{0,40}\b${noun}\b[^\n]{0,40}$`,
  'im',
);
const questionLabel =
  /(?:^|(?<=[.!?][ \t]))[ \t#*_>=[-]*(?:(?:the|user|user['’]s|users|human|my|original|current|new|final|input|follow[- ]?up|customer|here is the|here['’]s the|now answer (?:this|the)|please answer (?:this|the)(?: following)?|answer (?:this|the)(?: following)?|following)[ \t]+){0,3}(?:question|query|inquiry|user input|user message|user request|q)(?:[ \t]+(?:is|as follows|to answer|from the user))*[ \t\]*_=]*(?::|：)[ \t*_=\]]*/gim;
const questionHeading =
  /^[ \t]*(?:#{1,6}[ \t]|\*\*)[ \t]*(?:(?:user|the|user['’]s|my)[ \t]+)?(?:question|query)[ \t*]*$/gim;
const answerLabel =
  /(?:^|\n)[ \t#*_>=[-]*(?:(?:your|helpful|final|the|concise|detailed|short|assistant|refined|correct)[ \t]+){0,2}(?:answer|response|output|assistant|a)[ \t]*(?:\([^)\n]{0,60}\)|in [^\n:]{1,40}|with [^\n:]{1,40})?[ \t\]*_=]*(?::|：|(?<=#[^\n]*))[ \t*_=\]]*\s*$/i;
/** Other parts of a prompt after its context. */
const otherLabel =
  /^[ \t]*(?:#{1,6}[ \t]+|\*\*)?(?:(?:your|helpful|final|the)[ \t]+)?(?:answer|response|output|instructions?|rules|guidelines|chat history|conversation(?: history)?|task|requirements)[ \t]*\**:[ \t*]*/im;

/** The text without an `Answer:` at its end. */
export function withoutAnswerLabel(text: string): string {
  return text.trimEnd().replace(answerLabel, '');
}

/** The context of a message, by its clearest border: tags, fences and dashes, a label, or the instruction before it. */
export function blockOf(text: string, { hasQuestion }: { hasQuestion: boolean }): ContextBlock | undefined {
  return (
    betweenTags(text) ??
    betweenFences(text) ??
    afterLabel(text, label) ??
    afterLabel(text, heading) ??
    afterLabel(text, announcement) ??
    afterInstruction(text, hasQuestion)
  );
}

function betweenTags(text: string): ContextBlock | undefined {
  const ends = new Map<string, number>();
  for (const { 0: tag, 1: name, index } of text.matchAll(contextTag)) {
    const close = `</${name}>`;
    // Once for each name, since a text may open the same tag many times.
    const end = ends.get(close) ?? text.lastIndexOf(close);
    ends.set(close, end);
    if (end < index + tag.length) continue;
    const after = text.slice(end + close.length);
    // The tags of several passages without a tag around them belong to the passages.
    const isOne = text.indexOf(close) === end && !/\s/.test(tag);
    const [from, to] = isOne ? [index + tag.length, end] : [index, end + close.length];
    return { before: text.slice(0, index), text: text.slice(from, to), after, isLabelled: true };
  }
  return undefined;
}

function betweenFences(text: string): ContextBlock | undefined {
  const open = fenceAfter.exec(text);
  if (!open) return undefined;
  const start = open.index + open[0].length;
  const end = text.lastIndexOf(`\n${open[1]!}`);
  if (end < start) return undefined;
  const after = text.slice(end + 1 + open[1]!.length).replace(/^[-=~*`"']*/, '');
  return { before: text.slice(0, start), text: text.slice(start, end), after, isLabelled: true };
}

function afterLabel(text: string, pattern: RegExp): ContextBlock | undefined {
  const [match] = text.matchAll(pattern);
  if (!match) return undefined;
  const start = match.index + match[0].length;
  const end = endOfContext(text, start);
  const block = { before: text.slice(0, start), text: text.slice(start, end), after: text.slice(end) };
  return block.text.trim() === '' ? undefined : { ...block, isLabelled: pattern !== announcement };
}

/** Without a label: the paragraphs after the instruction, until the question. */
function afterInstruction(text: string, hasQuestion: boolean): ContextBlock | undefined {
  const mark = /\b(?:following|below|retrieved|given|provided|these)\b/i;
  const paragraphs = [...text.matchAll(/[^\n](?:[^\n]|\n(?![ \t\r]*\n))*/g)];
  const about = new RegExp(String.raw`\b${noun}\b`, 'i');
  const rule = paragraphs.find(
    ({ 0: part }) => mark.test(part) && about.test(part) && /\banswer/i.test(part),
  );
  if (!rule) return undefined;
  const start = rule.index + rule[0].length;
  const end = endOfContext(text, start);
  if (hasQuestion && end === text.length) return undefined;
  const block = { before: text.slice(0, start), text: text.slice(start, end), after: text.slice(end) };
  return block.text.trim() === '' ? undefined : { ...block, isLabelled: false };
}

/** Where a context that has no closing mark ends: before the last question, a closing sentence, or another part. */
function endOfContext(text: string, start: number): number {
  const rest = text.slice(start);
  const closed = closing.exec(rest)?.index;
  if (closed !== undefined) return start + closed;
  const asked = lastQuestionLabel(rest);
  if (asked) return start + asked.index;
  const tagged = questionTag.exec(rest)?.index;
  if (tagged !== undefined) return start + tagged;
  const other = otherLabel.exec(rest)?.index ?? rest.length;
  return start + other;
}

function lastQuestionLabel(text: string): { index: number; end: number } | undefined {
  const found = [...text.matchAll(questionLabel), ...text.matchAll(questionHeading)];
  const last = found.toSorted((left, right) => left.index - right.index).at(-1);
  return last && { index: last.index, end: last.index + last[0].length };
}

/** The question of a prompt: between tags, after a label, or the paragraph after or before the context. */
export function questionIn({
  before,
  text,
  after,
}: ContextBlock): { text: string; isLabelled: boolean } | undefined {
  for (const part of [after, before]) {
    const tagged = questionTag.exec(part)?.[2]?.trim();
    if (tagged) return { text: tagged, isLabelled: true };
    const mark = lastQuestionLabel(part);
    const labelled = mark && firstPartOf(part.slice(mark.end));
    if (labelled) return { text: labelled, isLabelled: true };
  }
  const rest = withoutAnswerLabel(after.replace(closing, '')).trim();
  const paragraphs = rest.split(/\n\s*\n|\n/).filter((part) => part.trim() !== '');
  const asked = paragraphs.findLast((part) => part.trim().endsWith('?')) ?? paragraphs.at(-1);
  if (asked) return { text: asked.trim(), isLabelled: false };
  // A question before the context, or as the last paragraph of a context without an end.
  const near = [
    ...before.split('\n'),
    ...text
      .trim()
      .split(/\n\s*\n/)
      .slice(1)
      .slice(-1),
  ];
  const found = near.findLast((part) => part.trim().endsWith('?'))?.trim();
  return found ? { text: found, isLabelled: false } : undefined;
}

/** The text until a blank line, a heading or another label. */
function firstPartOf(text: string): string {
  const part = withoutAnswerLabel(text)
    .trim()
    .split(/\n\s*\n|\n(?=[ \t]*(?:#|\*\*|<))/)[0]!;
  const other = otherLabel.exec(part)?.index ?? part.length;
  label.lastIndex = 0;
  const context = label.exec(part)?.index ?? part.length;
  return part.slice(0, Math.min(other, context)).trim();
}
