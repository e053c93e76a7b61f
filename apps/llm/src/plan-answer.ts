import type { ChatMessage, GenerationChunk, GenerationParameters, TokenUsage } from '#contracts';
import type { GenerationEvent, Generator } from '#inference';
import {
  buildGroundedPrompt,
  checkAnswers,
  CitationCheck,
  fitConversation,
  fillChatTemplate,
  passThrough,
  QuoteCheck,
  quoteSources,
  type AnswerCheck,
  type GroundedPrompt,
} from './grounding/index.js';
import type { GenerateRequest } from './generate-request.js';
import type { LlmSettings } from './llm.settings.js';

/** What is said to the model, and what is done with what it says. */
export interface AnswerPlan {
  readonly prompt: ChatMessage[];
  readonly parameters: GenerationParameters;
  readonly check: (
    events: AsyncIterable<GenerationEvent>,
    usageSoFar: () => Promise<TokenUsage>,
  ) => AsyncIterable<GenerationChunk>;
}

/** Tokens kept free for an answer whose length the caller did not limit. */
const defaultAnswerTokens = 256;

/** Plain chat goes to the model as it is; with documents the answer is grounded on them. */
export async function planAnswer(
  { messages, documents, chat_template, model: _model, ...given }: GenerateRequest,
  settings: LlmSettings,
  generator: Pick<Generator, 'info' | 'countPromptTokens'>,
): Promise<AnswerPlan> {
  const parameters = { ...settings.parameters, ...withoutUndefined(given) };
  const turns = messages.map(withKnownRole);
  if (!documents) {
    const prompt = chat_template === undefined ? turns : fillChatTemplate(turns, chat_template);
    return { prompt, parameters, check: passThrough };
  }
  const ground = (kept: readonly ChatMessage[]) =>
    buildGroundedPrompt({ messages: kept, documents, chat_template }, settings.grounding);
  const limit = generator.info.maxInputTokens;
  const answerTokens = Math.min(parameters.max_tokens ?? defaultAnswerTokens, Math.floor(limit / 4));
  const kept = await fitConversation(turns, limit - answerTokens, (shorter) =>
    generator.countPromptTokens(ground(shorter).messages),
  );
  const grounded = ground(kept);
  const newCheck = () => checkOf(grounded, parameters, settings);
  return {
    prompt: grounded.messages,
    parameters,
    check: (events, usageSoFar) => checkAnswers(events, { choices: parameters.n ?? 1, newCheck, usageSoFar }),
  };
}

function checkOf(
  { passages, question }: GroundedPrompt,
  parameters: GenerationParameters,
  { grounding }: LlmSettings,
): AnswerCheck {
  if (grounding.answerCheck === 'citations') return new CitationCheck(passages);
  const sources = quoteSources(passages, grounding.noAnswer);
  return new QuoteCheck({ sources, question, stops: [parameters.stop ?? []].flat() });
}

/** `developer` is OpenAI's newer name of the system role; chat templates know only the older one. */
function withKnownRole(message: ChatMessage): ChatMessage {
  return message.role === 'developer' ? { ...message, role: 'system' } : message;
}

/** So that a parameter that is not given does not hide the profile's; 0 and false are given. */
function withoutUndefined<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Values>;
}
