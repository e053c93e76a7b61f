/** A turn of a conversation. */
interface Turn {
  readonly role: string;
  readonly content: string;
}

/** What a chat page asks the model to write about a conversation. */
export type ChatTaskKind = 'title' | 'tags' | 'follow-ups' | 'queries' | 'emoji';

/** A request of a chat page about a conversation, in place of a question of its user. */
export interface ChatTask {
  readonly kind: ChatTaskKind;
  /** The conversation: in the request's text, or the turns before it. */
  readonly history: readonly Turn[];
  /** The field of the JSON object that the request asks for, and whether its value is a list. */
  readonly json?: { readonly key: string; readonly isList: boolean };
  /** Limit for the words of a title. */
  readonly maxWords?: number;
}

const verb = String.raw`(?:generate|create|write|suggest|propose|provide|produce|give|make|return|come up with|summari[sz]e|analy[sz]e|name|extract|think of|pick|choose|output)`;
const noun: readonly [ChatTaskKind, string][] = [
  [
    'follow-ups',
    String.raw`follow[- ]?ups?\b|(?:next|related|suggested) questions|questions? [^.]{0,60}\bask next`,
  ],
  ['queries', String.raw`(?:search|web|retrieval) quer(?:y|ies)`],
  ['emoji', String.raw`emojis?\b(?![^.]{0,40}\btitle)`],
  ['tags', String.raw`tags?\b|keywords?\b|topic labels?\b`],
  [
    'title',
    String.raw`titles?\b|headline\b|subject line\b|(?:conversation|chat|thread|dialog(?:ue)?)(?:'s)? (?:a )?(?:short )?name\b|name for\b`,
  ],
];
/** An instruction at the beginning of a line or a sentence: a verb and, in the same sentence, the thing to write. */
const kinds = noun.map(([kind, things]) => ({
  kind,
  pattern: new RegExp(
    String.raw`(?:^|[\n.:;!,]|\byou (?:need|have) to\b|\btask is to\b|\bplease\b|\b(?:can|could) you\b)[\s*#>-]*(?:please |now |then )*${verb}\b[^.?!\n]{0,120}?(?:${things})`,
    'i',
  ),
}));
/** A title is often asked for as a summary: "Summarize the conversation into a title". */
const conversation =
  /\b(?:conversation|chat|chat history|chat_history|dialog(?:ue)?|discussion|thread|messages?|exchange|user(?:'s)? (?:query|prompt|question))\b/i;
const shape =
  /\b(?:concise|short|brief|words?|characters|json|only (?:return|respond|reply|output)|return only|just (?:provide|return|the)|nothing else|without|no (?:quotes|punctuation)|summari[sz])/i;
const transcriptTag = /<(chat_history|conversation|messages|history|chat|transcript)>([\s\S]*?)<\/\1>/i;
const speaker = /^[\s>|*"-]*(?:\|\|>)?(user|human|assistant|ai|bot|response|model)\b["*]*\s*:\s*/i;

/** The request of a chat page for a title, tags, follow-ups, search queries or an emoji; undefined for a question. */
export function chatTaskOf(messages: readonly Turn[]): ChatTask | undefined {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[last];
  if (!asked) return undefined;
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  for (const text of [asked.content, ...system.map(({ content }) => content)]) {
    const inText = historyIn(text);
    const isInstruction = text !== asked.content;
    const instructions = text.replace(transcriptTag, '');
    const kind = kindOf(instructions.slice(0, maxInstructionsLength));
    if (!kind || !conversation.test(instructions) || !shape.test(instructions)) continue;
    const said = isInstruction ? historyIn(asked.content) : inText;
    // A system prompt may mention titles: only a transcript as the message makes it a request for one.
    if (isInstruction && said.length === 0) continue;
    const before = messages.slice(0, last).filter(({ role }) => role === 'user' || role === 'assistant');
    if (said.length === 0 && before.length === 0) continue;
    const json = jsonFormOf(instructions);
    const maxWords = wordLimitOf(instructions);
    return {
      kind,
      history: said.length > 0 ? said : before,
      ...(json && { json }),
      ...(maxWords && { maxWords }),
    };
  }
  return undefined;
}

/** The instructions of a task come first; a long text after them is not searched. */
const maxInstructionsLength = 4_000;

function kindOf(text: string): ChatTaskKind | undefined {
  const found = kinds.flatMap(({ kind, pattern }) => {
    const match = pattern.exec(text);
    return match ? [{ kind, at: match.index + match[0].length }] : [];
  });
  return found.toSorted((left, right) => left.at - right.at)[0]?.kind;
}

/** The turns of a transcript in a text: lines that begin with a speaker. Empty without one. */
function historyIn(text: string): Turn[] {
  const transcript = transcriptTag.exec(text)?.[2] ?? text;
  const turns: { role: string; content: string }[] = [];
  for (const line of transcript.split('\n')) {
    const match = speaker.exec(line);
    const rest = line.slice(match?.[0].length ?? 0).trim();
    if (match) turns.push({ role: /user|human/i.test(match[1]!) ? 'user' : 'assistant', content: rest });
    else if (turns.length > 0) turns.at(-1)!.content = `${turns.at(-1)!.content} ${rest}`.trim();
  }
  const said = turns.map(({ role, content }) => ({
    role,
    content: content.replaceAll(/^["“]+|["”]+$/g, ''),
  }));
  return said.some(({ role, content }) => role === 'user' && content !== '') ? said : [];
}

/** The first field of the JSON object that a text shows as the form of the answer. */
function jsonFormOf(text: string): ChatTask['json'] {
  if (!/json/i.test(text)) return undefined;
  const match = /\{\s*["“']?([a-z_][\w-]*)["”']?\s*:\s*(\[)?/i.exec(text);
  return match ? { key: match[1]!, isList: match[2] !== undefined } : undefined;
}

const numbers = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

function wordLimitOf(text: string): number | undefined {
  const match = new RegExp(String.raw`\b(\d{1,2}|${numbers.join('|')})[ -]words?\b`, 'i').exec(text)?.[1];
  if (match === undefined) return undefined;
  const named = numbers.indexOf(match.toLowerCase()) + 1;
  return named > 0 ? named : Number(match);
}
