import {
  invalidField,
  judge,
  type ChatMessage,
  type Citation,
  type GenerationChunk,
  type GuardrailJudgement,
  type ReplyOf,
} from '#contracts';
import type { ShortCircuit } from '#dag';
import { conversationOf, questionOf, type Conversation, type NodeCall } from '../mega-service-request.js';

/** An answer on its way: what was redacted in it, and whether it was cut. */
interface OpenAnswer {
  /** Characters of what the model said. */
  read: number;
  changes: Change[];
  blocked: boolean;
}

/** A stretch of the model's text, and the length of what stands in its place. */
interface Change {
  start: number;
  end: number;
  length: number;
}

/**
 * Hands an answer's sentences on as they were judged. A sentence that is blocked is replaced by the rule's message and
 * ends its answer (`content_filter`); once no answer is left the stream behind is stopped. Citations move along with
 * the text that they belong to; one whose text was redacted is dropped.
 */
export async function* guardAnswers(
  sentences: AsyncIterable<GenerationChunk>,
  judge: (text: string) => Promise<GuardrailJudgement>,
  choices = new Map<number, OpenAnswer>(),
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const chunk of sentences) {
    const answer = choices.get(chunk.choice) ?? { read: 0, changes: [], blocked: false };
    choices.set(chunk.choice, answer);
    if (answer.blocked) {
      if (chunk.usage) yield { choice: chunk.choice, text: '', usage: chunk.usage, model: chunk.model };
      continue;
    }
    const judged = chunk.text === '' ? undefined : await judge(chunk.text);
    yield judged?.action === 'block' ? blockedChunk(chunk, judged, answer) : keptChunk(chunk, judged, answer);
  }
}

function blockedChunk(
  { choice, usage, model }: GenerationChunk,
  { message = 'The rest of this answer is withheld.' }: GuardrailJudgement,
  answer: OpenAnswer,
): GenerationChunk {
  answer.blocked = true;
  return {
    choice,
    text: message,
    refusal: true,
    finishReason: 'content_filter',
    ...(usage && { usage }),
    ...(model && { model }),
  };
}

function keptChunk(
  chunk: GenerationChunk,
  judged: GuardrailJudgement | undefined,
  answer: OpenAnswer,
): GenerationChunk {
  // Thoughts come in pieces of any length, which cannot be judged as sentences can: they are withheld.
  const { text, citations, logprobs, reasoning: _withheld, ...rest } = chunk;
  const redacted = judged?.action === 'redact';
  if (redacted) {
    for (const { start, end, length } of changesOf(judged)) {
      answer.changes.push({ start: answer.read + start, end: answer.read + end, length });
    }
  }
  answer.read += text.length;
  const moved = citations?.flatMap((citation) => moveCitation(citation, answer.changes));
  return {
    ...rest,
    text: redacted ? judged.text : text,
    // The tokens of a redacted sentence would tell what was redacted.
    ...(logprobs && !redacted && { logprobs }),
    ...(moved && moved.length > 0 && { citations: moved }),
  };
}

function changesOf({ findings }: GuardrailJudgement): Change[] {
  return findings.flatMap(({ start, end, replacement }) =>
    start === undefined || end === undefined ? [] : [{ start, end, length: replacement?.length ?? 0 }],
  );
}

function moveCitation(citation: Citation, changes: readonly Change[]): Citation[] {
  const { startIndex, endIndex } = citation;
  if (changes.some(({ start, end }) => start < endIndex && end > startIndex)) return [];
  const shift = changes
    .filter(({ end }) => end <= startIndex)
    .reduce((sum, { start, end, length }) => sum + length - (end - start), 0);
  return [{ ...citation, startIndex: startIndex + shift, endIndex: endIndex + shift }];
}

/** What of a turn is text: a caller can write each of them, whatever role it gives the turn. */
interface Said {
  text: string;
  /** The turn with another text in that place. */
  replace: (message: ChatMessage, text: string) => ChatMessage;
  index: number;
}

/**
 * Judges what the request says: all turns of it, whatever their roles, the tools and the form of the answer. A blocked text ends
 * the run, the rule's message answers in its place; what is redacted is redacted for everything that follows.
 * Errors: invalid_request where a text of the tools or the form would have to be redacted.
 */
export async function callGuardrail(call: NodeCall): Promise<Conversation | ShortCircuit> {
  const { client, options } = call;
  const { messages } = conversationOf(call);
  const asked = messages.flatMap(textsOf);
  const formed = formTexts(call.request);
  const texts = [...asked.map(({ text }) => text), ...formed];
  if (texts.length === 0) return conversationOf(call);
  if (texts.length > mostTexts) throw invalidField('messages', `a guard judges at most ${mostTexts} texts`);
  const reply = await client.request(judge, { texts, side: 'input' }, options);
  reportFindings(call, reply);
  const { judgements } = reply;
  const blocked = judgements.find(({ action }) => action === 'block');
  if (blocked) return { cut: true, answer: refusal(blocked) };
  // These are read from the request itself, so that no later node would see the redacted text.
  if (judgements.slice(asked.length).some(({ action }) => action === 'redact'))
    throw invalidField('tools', 'A guard redacts a text of the tools or of the form of the answer');
  const judged = [...messages];
  asked.forEach(({ text, replace, index }, position) => {
    judged[index] = replace(judged[index]!, judgements[position]?.text ?? text);
  });
  return { messages: judged, query: questionOf(judged) };
}

/** All strings of each tool and of the form of the answer, names of fields too: the model reads them. */
function formTexts({ form }: NodeCall['request']): string[] {
  const parts: unknown[] = [...(form?.tools ?? []), form?.constraint];
  return parts.map((part) => stringsOf(part).join('\n')).filter((text) => text !== '');
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(stringsOf);
  return Object.entries(value).flatMap(([name, item]) => [name, ...stringsOf(item)]);
}

/** Texts that one call judges. */
const mostTexts = 1000;

function textsOf({ content, reasoning, name, toolCalls }: ChatMessage, index: number): Said[] {
  const said: Said[] = [];
  if (name) said.push({ index, text: name, replace: (message, text) => ({ ...message, name: text }) });
  if (content !== '')
    said.push({ index, text: content, replace: (message, text) => ({ ...message, content: text }) });
  if (reasoning)
    said.push({ index, text: reasoning, replace: (message, text) => ({ ...message, reasoning: text }) });
  toolCalls?.forEach((made, place) => {
    for (const field of ['name', 'input'] as const) {
      const replace: Said['replace'] = (message, text) => ({
        ...message,
        toolCalls: message.toolCalls?.map((call, at) => (at === place ? { ...call, [field]: text } : call)),
      });
      if (made[field] !== '') said.push({ index, text: made[field], replace });
    }
  });
  return said;
}

/** Judges an answer sentence by sentence while it is written. */
export function callAnswerGuardrail(call: NodeCall): AsyncIterable<GenerationChunk> {
  const { client, context, options } = call;
  const sentences = context.inputs['answer'] as AsyncIterable<GenerationChunk>;
  return guardAnswers(sentences, async (text) => {
    const reply = await client.request(judge, { texts: [text], side: 'output' }, options);
    reportFindings(call, reply);
    return reply.judgements[0] ?? { action: 'pass', text, findings: [] };
  });
}

function refusal({ message = 'This cannot be answered here.' }: GuardrailJudgement): GenerationChunk {
  return {
    choice: 0,
    text: message,
    refusal: true,
    finishReason: 'content_filter',
    usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
  };
}

/** What was found, without the words that it was found in. */
function reportFindings({ context }: NodeCall, { judgements, revision, model }: ReplyOf<typeof judge>): void {
  const findings = judgements.flatMap((judgement) =>
    judgement.findings.map(({ rule, action, label, score }) => ({
      rule,
      action,
      ...(label !== undefined && { label, score }),
    })),
  );
  context.report({ rules: revision, ...(model && { model }), ...(findings.length > 0 && { findings }) });
}
