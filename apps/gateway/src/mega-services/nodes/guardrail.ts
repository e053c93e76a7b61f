import { judge, type GenerationChunk, type GuardrailJudgement, type ReplyOf } from '#contracts';
import type { Verdict } from '#dag';
import { conversationOf, questionOf, type Conversation, type NodeCall } from '../mega-service-request.js';
import { guardAnswers } from './guard-answers.js';

/**
 * Judges what the user said, all turns of it. A blocked turn ends the run, the rule's message answers in its place;
 * what is redacted is redacted for everything that follows.
 */
export async function callGuardrail(call: NodeCall): Promise<Conversation | Verdict> {
  const { client, options } = call;
  const { messages } = conversationOf(call);
  const asked = messages.flatMap((message, index) => (message.role === 'user' ? [{ message, index }] : []));
  if (asked.length === 0) return conversationOf(call);
  const texts = asked.map(({ message }) => message.content);
  const reply = await client.request(judge, { texts, side: 'input' }, options);
  reportFindings(call, reply);
  const { judgements } = reply;
  const blocked = judgements.find(({ action }) => action === 'block');
  if (blocked) return { cut: true, answer: refusal(blocked) };
  const judged = [...messages];
  asked.forEach(({ message, index }, position) => {
    judged[index] = { ...message, content: judgements[position]?.text ?? message.content };
  });
  return { messages: judged, query: questionOf(judged) };
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
