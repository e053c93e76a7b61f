import {
  invalidField,
  judge,
  moveFiles,
  type Change,
  type ChatMessage,
  type Citation,
  type GenerationChunk,
  type GuardrailJudgement,
  type ReplyOf,
} from '#platform/contracts';
import type { ShortCircuit } from '#platform/dag';
import { conversationOf, questionOf, type Conversation, type NodeCall } from '../mega-service-request.js';

/** The state of an unfinished answer: its redactions, and whether it is blocked. */
interface OpenAnswer {
  /** Characters of the model's text up to now. */
  read: number;
  /** The redacted ranges of the model's text. */
  changes: Change[];
  blocked: boolean;
}

/**
 * Judges the sentences of answers, and yields them as judged. The message of the rule replaces a blocked sentence and
 * ends its answer (`content_filter`). Citations are moved with the text that they belong to. A citation of redacted
 * text, and one whose quote a rule finds, is dropped.
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
    if (judged?.action === 'block') {
      yield blockedChunk(chunk, judged, answer);
      continue;
    }
    const citations = await citationsWithin(chunk.citations ?? [], judge);
    yield keptChunk({ ...chunk, citations }, judged, answer);
  }
}

/** The citations whose quotes, the words of a document, pass as they are. */
async function citationsWithin(
  citations: readonly Citation[],
  judge: (text: string) => Promise<GuardrailJudgement>,
): Promise<Citation[]> {
  const kept: Citation[] = [];
  for (const citation of citations) if ((await judge(citation.quote)).action === 'pass') kept.push(citation);
  return kept;
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
  // Reasoning is withheld: it arrives in pieces of any length, and only sentences can be judged.
  const { text, citations, logprobs, reasoning: _withheld, ...rest } = chunk;
  const redacted = judged?.action === 'redact';
  if (redacted) {
    for (const { start, end, length } of changesOf(judged)) {
      answer.changes.push({ start: answer.read + start, end: answer.read + end, length });
    }
  }
  answer.read += text.length;
  const moved = (citations ?? []).flatMap((citation) => moveCitation(citation, answer.changes));
  return {
    ...rest,
    text: redacted ? judged.text : text,
    // The tokens would reveal the redacted text.
    ...(logprobs && !redacted && { logprobs }),
    ...(moved.length > 0 && { citations: moved }),
  };
}

function changesOf({ findings }: Pick<GuardrailJudgement, 'findings'>): Change[] {
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

/** One of the texts of a turn. The caller can write all of them, for each role. */
interface Said {
  text: string;
  /** Returns the turn with another text in this place, which differs in these ranges. */
  replace: (message: ChatMessage, text: string, changes: readonly Change[]) => ChatMessage;
  index: number;
}

/**
 * Judges the texts of the request: all turns of all roles, the tools and the response format. A blocked text ends the
 * run with the message of the rule as the answer. Later nodes see the redacted texts only. Errors: invalid_request if a
 * rule redacts a text of the tools or of the response format, or if the request has too many texts.
 */
export async function callGuardrail(call: NodeCall): Promise<Conversation | ShortCircuit> {
  const { client, options } = call;
  const { messages } = conversationOf(call);
  const asked = messages.flatMap(textsOf);
  const formed = formTexts(call.request);
  const texts = [...asked.map(({ text }) => text), ...formed];
  if (texts.length === 0) return conversationOf(call);
  if (texts.length > maxTexts)
    throw invalidField('messages', `contains more than ${maxTexts} texts, the limit of a guard`);
  const reply = await client.request(judge, { texts, side: 'input' }, options);
  reportFindings(call, reply);
  const { judgements } = reply;
  const blocked = judgements.find(({ action }) => action === 'block');
  if (blocked) return { cut: true, answer: refusal(blocked) };
  // Later nodes read tools and format from the request, so they would not see the redacted text.
  if (judgements.slice(asked.length).some(({ action }) => action === 'redact'))
    throw invalidField(
      'tools',
      'a guard redacts a text of the tools or of the response format; remove this text',
    );
  const judged = [...messages];
  asked.forEach(({ text, replace, index }, position) => {
    const { text: kept = text, findings = [] } = judgements[position] ?? {};
    judged[index] = replace(judged[index]!, kept, changesOf({ findings }));
  });
  return { messages: judged, query: questionOf(judged) };
}

/** All strings of each tool and of the response format, with the names of fields, because the model reads them. */
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

/** Maximum number of texts in one call. */
const maxTexts = 1000;

function textsOf({ content, reasoning, name, toolCalls }: ChatMessage, index: number): Said[] {
  const said: Said[] = [];
  if (name) said.push({ index, text: name, replace: (message, text) => ({ ...message, name: text }) });
  if (content !== '') said.push({ index, text: content, replace: withContent });
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

/** Replaces the content. The ranges of its files move with the redactions. */
function withContent(message: ChatMessage, content: string, changes: readonly Change[]): ChatMessage {
  const { files } = message;
  return { ...message, content, ...(files && { files: moveFiles(files, changes) }) };
}

/** Judges an answer sentence by sentence while the model writes it. */
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

/** Reports the findings without the texts. */
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
