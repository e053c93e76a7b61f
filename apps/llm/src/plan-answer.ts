import type {
  ChatMessage,
  GenerationChunk,
  GenerationParameters,
  Neighbour,
  TokenUsage,
} from '#platform/contracts';
import type { GenerateRequest as ModelRequest, GenerationEvent, Generator } from '#engine/generation';
import { refusals } from '#answers/questions';
import { languageOf } from '#platform/foundation';
import {
  type AnswerForm,
  type CitablePassage,
  checkAnswers,
  citablePassage,
  passThrough,
} from '#answers/citations';
import { answerInstruction, type AnswerCase } from './grounding/answer-instruction.js';
import {
  buildGroundedPrompt,
  fillChatTemplate,
  fitConversation,
  lastExchange,
  type GroundedPrompt,
  type GroundedRequest,
} from './grounding/grounded-prompt.js';
import {
  evidenceTokens,
  fitPassages,
  notePassages,
  passagesWithin,
  type Passage,
  type Note,
} from './grounding/passages.js';
import type { FormChecker } from './forms/form-checker.js';
import type { GenerateRequest } from './tools/tool-format.js';
import type { LlmSettings } from './llm.environment.js';
import type { LlmGenerator } from './open-generator.js';
import { planCalls, type CallOptions, type CallPlan } from './tools/plan-calls.js';

/** The request to the model, and the steps that read and check its answer. */
export interface AnswerPlan {
  readonly request: ModelRequest;
  /** Separates text, reasoning and calls. */
  readonly read: CallPlan['read'];
  readonly mayBreak: CallPlan['mayBreak'];
  readonly check: (
    events: AsyncIterable<GenerationEvent>,
    usageSoFar: () => Promise<TokenUsage>,
  ) => AsyncIterable<GenerationChunk>;
}

/** Tokens kept free for an answer whose length the caller did not limit. */
const defaultAnswerTokens = 1024;
/** Upper estimate for the tokens of a chat template around each message. */
const templateTokens = 16;

type Model = Pick<Generator, 'info' | 'countPromptTokens' | 'template'> & Pick<LlmGenerator, 'thoughts'>;

/** A request, with notes of its documents where they are too long for one prompt. */
export type AnswerRequest = GenerateRequest & { readonly notes?: readonly Note[] };

/** Plans plain chat with its tools, or an answer that is grounded on documents. */
export async function planAnswer(
  request: AnswerRequest,
  settings: LlmSettings,
  generator: Model,
  forms: FormChecker,
): Promise<AnswerPlan> {
  const { messages, documents, neighbours, documents_told, chat_template, labels, ...others } = request;
  const { model: _model, whole: _whole, collection, reads_whole: readsWhole, notes, ...rest } = others;
  const { tools: _tools, tool_choice: _choice, parallel_tool_calls: _calls, ...sampling } = rest;
  const { chat_template_kwargs: _variables, constraint, ...given } = sampling;
  const ofCaller = withoutUndefined(given);
  const form = formOf(constraint);
  const plain = { ...settings.parameters, ...ofCaller };
  const turns = readTurns(messages.map(withKnownRole), settings);
  const callOptions = callOptionsOf(request, settings, generator);
  const plan = (
    prompt: readonly ChatMessage[],
    parameters: GenerationParameters,
    check: AnswerPlan['check'],
  ): AnswerPlan => {
    const {
      messages: asked,
      read,
      mayBreak,
      chatTemplateKwargs,
      native,
      ...calls
    } = planCalls(prompt, callOptions, generator.template, forms);
    const held = calls.constraint ? { ...parameters, constraint: calls.constraint } : parameters;
    const model = { ...native, ...(labels && { labels }) };
    const asking = { messages: asked, parameters: held, chatTemplateKwargs, ...model };
    return { request: asking, read, mayBreak, check };
  };
  // An empty list is a search that found nothing: the model gets its instructions, never the bare question.
  if (!documents || (documents_told && documents.length === 0)) {
    const prompt = chat_template === undefined ? turns : fillChatTemplate(turns, chat_template);
    return plan(prompt, plain, passThrough);
  }
  const checking = (passages: readonly CitablePassage[]) =>
    checkedBy(passages, request, { noAnswer: settings.grounding.noAnswer, choices: plain.n ?? 1 });
  if (documents_told)
    return plan(
      turns,
      plain,
      checking(documents.map((document, index) => citablePassage(index + 1, [document]))),
    );
  const parameters = { ...settings.parameters, ...settings.grounding.parameters, ...ofCaller };
  const hasTools = (request.tools?.length ?? 0) > 0 && request.tool_choice?.mode !== 'none';
  const prompting = { collection, hasTools, form, chat_template };
  const whole = { readsWhole: readsWhole !== undefined, notes };
  const asked = { ...whole, neighbours, turns, prompting, parameters, settings, generator };
  const prompt = await groundOn(documents, asked);
  const passages = prompt.passages.map(({ number, documentId, parts }) =>
    citablePassage(number, parts ?? documents.filter(({ id }) => id === documentId)),
  );
  return plan(prompt.messages, parameters, checking(passages));
}

/** A model that follows no instructions does not get them: they would only fill its context. */
function readTurns(turns: ChatMessage[], { writes }: LlmSettings): ChatMessage[] {
  if (writes !== false) return turns;
  const read = turns.filter(({ role }) => role !== 'system' && role !== 'developer');
  return read.length > 0 ? read : turns;
}

/** The check of the citations of an answer from these passages. */
function checkedBy(
  passages: readonly CitablePassage[],
  { constraint }: GenerateRequest,
  { noAnswer, choices }: { noAnswer: string | undefined; choices: number },
): AnswerPlan['check'] {
  const all = noAnswer === undefined ? refusals : [...refusals, noAnswer];
  const answer = { passages, refusals: all, form: formOf(constraint), choices };
  return (events, usageSoFar) => checkAnswers(events, { ...answer, usageSoFar });
}

/** What the constraint makes of an answer, for its citations. */
function formOf(constraint: GenerationParameters['constraint']): AnswerForm {
  if (!constraint || constraint.type === 'structural_tag') return 'text';
  return constraint.type === 'json_object' || constraint.type === 'json_schema' ? 'json' : 'raw';
}

function callOptionsOf(
  request: GenerateRequest,
  { templateVariables }: LlmSettings,
  { thoughts }: Model,
): CallOptions {
  const { tools, tool_choice, parallel_tool_calls, constraint, whole, documents = [] } = request;
  const chat_template_kwargs = templateVariables
    ? { ...templateVariables, ...request.chat_template_kwargs }
    : request.chat_template_kwargs;
  const calls = { tools, tool_choice, parallel_tool_calls, chat_template_kwargs, constraint };
  return { ...calls, grounded: documents.length > 0, whole, thoughts };
}

interface Grounding {
  /** The documents are read as a whole: the passages get the whole window. */
  readsWhole: boolean;
  /** In place of the passages. */
  notes?: readonly Note[] | undefined;
  neighbours?: Neighbour[] | undefined;
  turns: ChatMessage[];
  prompting: Pick<AnswerCase, 'collection' | 'hasTools' | 'form'> & Pick<GroundedRequest, 'chat_template'>;
  parameters: GenerationParameters;
  settings: LlmSettings;
  generator: Model;
}

/** The prompt with as many passages as fit beside the question, then as much of the conversation as fits. */
async function groundOn(
  documents: NonNullable<GenerateRequest['documents']>,
  { readsWhole, notes, neighbours, turns, prompting, parameters, settings, generator }: Grounding,
): Promise<GroundedPrompt> {
  const { maxInputTokens: limit } = generator.info;
  const { max_tokens: wanted } = parameters;
  const answerTokens =
    wanted === undefined
      ? Math.min(defaultAnswerTokens, Math.floor(limit / 4))
      : Math.min(wanted, Math.floor(limit / 2));
  const room = limit - answerTokens;
  const { instructions, generalKnowledge = false, noAnswer } = settings.grounding;
  const answering = {
    ...prompting,
    generalKnowledge,
    noAnswer,
    language: languageOf(turns),
    now: new Date(),
  };
  const ground = (messages: readonly ChatMessage[], passages: readonly Passage[]) => {
    const instruction = instructions
      ? answerInstruction({ ...answering, passages: passages.length })
      : undefined;
    return buildGroundedPrompt({ messages, passages, ...prompting, instruction }, settings.grounding);
  };
  const count = (messages: readonly ChatMessage[], passages: readonly Passage[]) =>
    countUpTo(room, ground(messages, passages).messages, generator);
  const exchange = lastExchange(turns);
  const question = exchange.findLast(({ role }) => role === 'user')?.content ?? '';
  const found = { documents, neighbours, question };
  const passages = await fitPassages(
    readsWhole ? room : evidenceTokens(limit),
    (tokens) => (notes ? notePassages(notes, tokens) : passagesWithin(tokens, found, settings.grounding)),
    async (fewer) => (await count(exchange, fewer)) - room,
  );
  const kept = await fitConversation(turns, room, (shorter) => count(shorter, passages));
  return ground(kept, passages);
}

/** Counts tokens only where the bytes, which are never fewer, exceed the limit; otherwise returns the bytes. */
async function countUpTo(
  limit: number,
  messages: readonly ChatMessage[],
  generator: Pick<Generator, 'countPromptTokens'>,
): Promise<number> {
  const bytes = messages.map(({ content }) => Buffer.byteLength(content) + templateTokens);
  const most = bytes.reduce((sum, length) => sum + length, 0);
  const hasImages = messages.some(({ images = [] }) => images.length > 0);
  return most <= limit && !hasImages ? most : generator.countPromptTokens(messages);
}

/** `developer` is OpenAI's newer name of the system role; chat templates know only the older one. */
function withKnownRole(message: ChatMessage): ChatMessage {
  return message.role === 'developer' ? { ...message, role: 'system' } : message;
}

/** Removes undefined values, so that they do not override the profile's parameters. Keeps 0 and false. */
export function withoutUndefined<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Values>;
}
