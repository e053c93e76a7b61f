import {
  judge,
  type ChatMessage,
  type GenerationChunk,
  type GuardrailJudgement,
  type ReplyOf,
  invalidField,
} from '#contracts';
import type { ShortCircuit } from '#dag';
import { conversationOf, questionOf, type Conversation, type NodeCall } from '../mega-service-request.js';
import { guardAnswers } from './guard-answers.js';

/** What of a turn is text: a caller can write each of them, whatever role it gives the turn. */
interface Said {
  text: string;
  /** The turn with another text in that place. */
  replace: (message: ChatMessage, text: string) => ChatMessage;
  index: number;
}

/**
 * Judges what the request says, all turns of it, whatever their roles. A blocked turn ends the run, the rule's message answers
 * in its place; what is redacted is redacted for everything that follows.
 */
export async function callGuardrail(call: NodeCall): Promise<Conversation | ShortCircuit> {
  const { client, options } = call;
  const { messages } = conversationOf(call);
  const asked = messages.flatMap(textsOf);
  if (asked.length === 0) return conversationOf(call);
  if (asked.length > mostTexts) throw invalidField('messages', `a guard judges at most ${mostTexts} texts`);
  const texts = asked.map(({ text }) => text);
  const reply = await client.request(judge, { texts, side: 'input' }, options);
  reportFindings(call, reply);
  const { judgements } = reply;
  const blocked = judgements.find(({ action }) => action === 'block');
  if (blocked) return { cut: true, answer: refusal(blocked) };
  const judged = [...messages];
  asked.forEach(({ text, replace, index }, position) => {
    judged[index] = replace(judged[index]!, judgements[position]?.text ?? text);
  });
  return { messages: judged, query: questionOf(judged) };
}

/** Texts that one call judges. */
const mostTexts = 1000;

function textsOf({ content, reasoning, toolCalls }: ChatMessage, index: number): Said[] {
  const said: Said[] = [];
  if (content !== '')
    said.push({ index, text: content, replace: (message, text) => ({ ...message, content: text }) });
  if (reasoning)
    said.push({ index, text: reasoning, replace: (message, text) => ({ ...message, reasoning: text }) });
  toolCalls?.forEach(({ input }, place) => {
    const replace: Said['replace'] = (message, text) => ({
      ...message,
      toolCalls: message.toolCalls?.map((call, at) => (at === place ? { ...call, input: text } : call)),
    });
    if (input !== '') said.push({ index, text: input, replace });
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
