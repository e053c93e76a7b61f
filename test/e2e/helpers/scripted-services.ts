import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  countPromptTokens,
  describeLlmModel,
  embed,
  encodeVectors,
  generate,
  healthMethod,
  MegaNestError,
  readNeighbours,
  readNamedDocuments,
  rerank,
  retrieve,
  type GenerationChunk,
  type ModelInfo,
  type Neighbour,
  type ParsedRequestOf,
  type ReplyOf,
  type RetrievedDocument,
  type ToolCallDelta,
  type ServiceHealth,
} from '#platform/contracts';
import { MessagingModule, RpcHandler, RpcServer, type RpcContext } from '#platform/messaging';
import { Controller, Inject, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ScriptedDataprep } from './scripted-dataprep.js';

/** Tokens that the scripted model takes; a word is a token. */
export const contextWindow = 200;
export const scriptedModel = 'scripted';

export const scriptedDocuments: RetrievedDocument[] = [1, 2].map((number) => ({
  id: `chunk-${number}`,
  text: `Passage ${number} says ${number}.`,
  score: 1 / number,
  metadata: { document_id: `document-${number}`, filename: `file-${number}.md`, chunk_index: number },
}));

/** What the scripted model did, for tests to look at. */
export class Witness {
  /** Tokens that the model takes; may be changed for clients with long prompts. */
  contextWindow = contextWindow;
  /** How often a gateway asked for the health of the language model. */
  healthAsked = 0;
  /** Generations begun. */
  started = 0;
  /** Tokens made, over all generations. */
  tokens = 0;
  /** Generations that ended because nobody wanted them any more. */
  stopped = 0;
  /** The documents that each search finds. */
  found: readonly RetrievedDocument[] = scriptedDocuments;
  /** The passages around them; undefined: the service fails to read them. */
  neighbours: readonly Neighbour[] | undefined = [];
  /** The documents that questions name. */
  named: ReplyOf<typeof readNamedDocuments> | undefined;
  /** What documents were searched with, oldest first. */
  readonly searched: string[] = [];
  /** The whole requests of these searches. */
  readonly retrievals: ParsedRequestOf<typeof retrieve>[] = [];
  /** The requests to rerank passages. */
  readonly rerankings: ParsedRequestOf<typeof rerank>[] = [];
  /** Emits `search` with each query. */
  readonly events = new EventEmitter();
  /** What the model was asked last. */
  asked: GenerateRequest | undefined;
  readonly #gate = new AbortController();

  /** Lets answers go that are `held`, those of now and of later. */
  release(): void {
    this.#gate.abort();
  }

  /** Resolves once they are let go, or nobody wants this one any more. */
  async released(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([this.#gate.signal, signal]);
    if (!either.aborted) await once(either, 'abort');
  }
}

type GenerateRequest = ParsedRequestOf<typeof generate>;

/**
 * A test double of the language model, never shipped: it does what the last user message says.
 * `count 5 every 20`: five numbers with a pause of 20 ms before each. `break after 3`: fails after three words.
 * `held: x`: says x once the witness lets it. `refuse: x`: refuses with x. `recall`: repeats the conversation as JSON. `overloaded`: refuses. `think about it: x`: thinks "about it", says x.
 * `use add {"a":1}` calls that tool, one a line, and repeats what came of it; the input of a custom tool may be any
 * text. Anything else is repeated word by word.
 */
@Controller()
class ScriptedLanguageModel {
  constructor(@Inject(Witness) private readonly witness: Witness) {}

  @RpcHandler(generate)
  async *generate(request: GenerateRequest, { signal }: RpcContext): AsyncGenerator<GenerationChunk> {
    const promptTokens = tokensOf(request.messages);
    if (promptTokens > this.witness.contextWindow)
      throw new MegaNestError('context_length_exceeded', {
        tokens: promptTokens,
        limit: this.witness.contextWindow,
        model: scriptedModel,
      });
    this.witness.started += 1;
    this.witness.asked = request;
    const script = scriptOf(request);
    if (script.held) await this.witness.released(signal);
    if (script.thought) yield { choice: 0, text: '', reasoning: script.thought };
    for (const call of script.calls ?? []) yield { choice: 0, text: '', toolCalls: [call] };
    const words = script.words.slice(0, request.max_tokens ?? Infinity);
    for (const [index, text] of words.entries()) {
      if (script.pauseMs > 0) await wait(script.pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        this.witness.stopped += 1;
        return;
      }
      if (index === script.breakAfter)
        throw new MegaNestError('internal_error', { service: 'llm', detail: 'the script broke' });
      this.witness.tokens += 1;
      const refusal = script.refuses && { refusal: true };
      yield { choice: 0, text, ...refusal, ...(request.logprobs && { logprobs: [logprobOf(text)] }) };
    }
    yield {
      choice: 0,
      text: '',
      finishReason: words.length < script.words.length ? 'length' : script.calls ? 'tool_calls' : 'stop',
      citations: citationsOf(request, words.join('')),
      usage: { promptTokens, completionTokens: words.length, cachedTokens: 0 },
    };
  }

  @RpcHandler(countPromptTokens)
  countTokens({ messages }: ParsedRequestOf<typeof countPromptTokens>) {
    return { promptTokens: tokensOf(messages), maxInputTokens: this.witness.contextWindow };
  }

  @RpcHandler(describeLlmModel)
  describe(): ModelInfo {
    const { contextWindow: maxInputTokens } = this.witness;
    return { id: scriptedModel, revision: '1', backend: 'script', maxInputTokens, created: 1 };
  }

  @RpcHandler(healthMethod('llm'))
  llmHealth(): ServiceHealth {
    this.witness.healthAsked += 1;
    return healthy('llm');
  }
}

/** Test doubles of the other services. */
@Controller()
class ScriptedController {
  constructor(@Inject(Witness) private readonly witness: Witness) {}

  @RpcHandler(embed)
  embed({ inputs }: ParsedRequestOf<typeof embed>) {
    const vectors = inputs.map(() => Float32Array.of(1, 0));
    return { model: 'scripted-embed', dimensions: 2, vectors: encodeVectors(vectors), promptTokens: 1 };
  }

  @RpcHandler(retrieve)
  retrieve(request: ParsedRequestOf<typeof retrieve>) {
    this.witness.searched.push(request.query);
    this.witness.retrievals.push(request);
    this.witness.events.emit('search', request.query);
    return { documents: [...this.witness.found], searchType: 'hybrid' as const };
  }

  @RpcHandler(readNeighbours)
  readNeighbours() {
    const { neighbours } = this.witness;
    if (neighbours) return { neighbours: [...neighbours] };
    throw new MegaNestError('internal_error', { service: 'retrieval', detail: 'the script broke' });
  }

  @RpcHandler(readNamedDocuments)
  namedDocuments({ names }: ParsedRequestOf<typeof readNamedDocuments>): ReplyOf<typeof readNamedDocuments> {
    const none = { names: names.map(() => ({ kind: 'none' as const, documents: [] })), passages: [] };
    return this.witness.named ?? none;
  }

  @RpcHandler(rerank)
  rerank(request: ParsedRequestOf<typeof rerank>) {
    const { texts } = request;
    this.witness.rerankings.push(request);
    return {
      model: 'scripted-rerank',
      promptTokens: 1,
      results: texts.map((_text, index) => ({ index, score: 1 - index / 10 })),
    };
  }

  @RpcHandler(healthMethod('embedding'))
  embeddingHealth(): ServiceHealth {
    return healthy('embedding');
  }

  @RpcHandler(healthMethod('retrieval'))
  retrievalHealth(): ServiceHealth {
    return healthy('retrieval');
  }

  @RpcHandler(healthMethod('reranking'))
  rerankingHealth(): ServiceHealth {
    return healthy('reranking');
  }

  @RpcHandler(healthMethod('dataprep'))
  dataprepHealth(): ServiceHealth {
    return healthy('dataprep');
  }

  @RpcHandler(healthMethod('guardrail'))
  guardrailHealth(): ServiceHealth {
    return healthy('guardrail');
  }

  @RpcHandler(healthMethod('asr'))
  asrHealth(): ServiceHealth {
    return healthy('asr');
  }
}

function healthy(service: string): ServiceHealth {
  return {
    service,
    description: 'scripted',
    healthy: true,
    version: '1.0.0',
    uptimeSeconds: 1,
    dependencies: [],
  };
}

interface Script {
  words: string[];
  pauseMs: number;
  breakAfter?: number;
  thought?: string;
  calls?: ToolCallDelta[];
  held?: boolean;
  refuses?: boolean;
}

function scriptOf({ messages, tools = [] }: GenerateRequest): Script {
  const results = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  if (results.some(({ role }) => role === 'tool'))
    return { words: [results.map(({ content }) => content).join(' and ')], pauseMs: 0 };
  const text = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const count = /count (\d+)(?: every (\d+))?/.exec(text);
  if (count) {
    const words = Array.from({ length: Number(count[1]) }, (_unused, index) => `${index + 1} `);
    return { words, pauseMs: Number(count[2] ?? 0) };
  }
  const broken = /break after (\d+)/.exec(text);
  if (broken) return { words: Array<string>(100).fill('word '), pauseMs: 0, breakAfter: Number(broken[1]) };
  const calls = [...text.matchAll(/^use (\S+) (.*)$/gm)].flatMap(([, name, input = '']) => {
    const tool = tools.find((each) => each.name === name);
    return tool ? [{ name, input, kind: tool.type }] : [];
  });
  if (calls.length > 0)
    return {
      words: [],
      pauseMs: 0,
      calls: calls.flatMap(({ name, kind, input }, index) => [
        { index, id: `call_${randomUUID()}`, name, kind, input: '' },
        ...input.split(/(?<=\s)/).map((piece) => ({ index, input: piece })),
      ]),
    };
  const [, manner, said = ''] = /^(held|refuse): (.*)$/s.exec(text) ?? [];
  if (manner) {
    const words = said.split(/(?<=\s)/);
    return { words, pauseMs: 0, held: manner === 'held', refuses: manner === 'refuse' };
  }
  const thinking = /^think (.*?): (.*)$/s.exec(text);
  if (thinking) return { words: [thinking[2] ?? ''], pauseMs: 0, thought: thinking[1] };
  if (text === 'overloaded')
    throw new MegaNestError('overloaded', { service: 'llm', detail: 'no room', retryAfter: 1 });
  if (text === 'recall')
    return {
      words: [JSON.stringify(messages.map(({ role, content }) => `${role}: ${content}`))],
      pauseMs: 0,
    };
  return { words: text.split(/(?<=\s)/), pauseMs: 0 };
}

function tokensOf(messages: readonly { content: string }[]): number {
  return messages.reduce((sum, { content }) => sum + content.split(/\s+/).length, 0);
}

function logprobOf(token: string) {
  return { token, logprob: -0.5, bytes: null, top_logprobs: [{ token, logprob: -0.5, bytes: null }] };
}

/** A grounded answer cites its first passage. */
function citationsOf({ documents }: GenerateRequest, text: string): GenerationChunk['citations'] {
  const [first] = documents ?? [];
  if (!first) return undefined;
  return [{ startIndex: 0, endIndex: text.length, passage: 1, documentId: first.id, quote: text }];
}

@Module({})
class ScriptedModule {
  static register(url: string, witness: Witness, withModel: boolean): DynamicModule {
    const identity = { service: 'scripted', description: 'Test doubles of all services.', version: '1.0.0' };
    return {
      module: ScriptedModule,
      imports: [MessagingModule.register({ ...identity, url, name: identity.service })],
      controllers: [ScriptedController, ScriptedDataprep, ...(withModel ? [ScriptedLanguageModel] : [])],
      providers: [{ provide: Witness, useValue: witness }],
    };
  }
}

export interface ScriptedServices {
  witness: Witness;
  close(): Promise<void>;
}

/** Serves the methods of every service from this process, those of the language model unless `withModel` is false. */
export async function startScriptedServices(url: string, withModel = true): Promise<ScriptedServices> {
  const witness = new Witness();
  const app = await NestFactory.create(
    ScriptedModule.register(url, witness, withModel),
    new FastifyAdapter(),
    { logger: false },
  );
  app.connectMicroservice({ strategy: app.get(RpcServer) });
  await app.startAllMicroservices();
  return { witness, close: () => app.close() };
}
