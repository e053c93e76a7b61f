import type { GenerationChunk, MegaNestError, RetrievedDocument, TokenUsage } from '#platform/contracts';
import type { ItemStatus } from '../items/output-items.js';
import { isFinished, responseUsage, type ResponseObject } from '../response-object.js';
import { modelTools } from '../tools/tools.js';
import { CallWriter, ServerItemWriter } from './call-writer.js';
import type { ErrorEvent, LifecycleType, ResponseEvent } from './events.js';
import { LogWriter, type MachineStep } from './event-log.js';
import { MessageWriter, ReasoningWriter } from './message-writer.js';

/**
 * Turns the steps of a response into its event log: each method returns the events that it adds. Every log begins with
 * `response.created` and ends with exactly one of completed, incomplete and failed; its numbers do not have gaps. Calls
 * after the end do not add events. The class does not depend on transports or storage.
 */
export class ResponseMachine {
  readonly #log: LogWriter;
  readonly #message: MessageWriter;
  readonly #reasoning: ReasoningWriter;
  readonly #calls: CallWriter;
  readonly #serverItems: ServerItemWriter;
  #documents: RetrievedDocument[] = [];
  #cutOff: IncompleteReason | undefined;
  #usage: TokenUsage | undefined;
  #answers = true;
  /** True once there is text that is not a refusal. */
  #said = false;

  /**
   * `nextSequence` above 0 continues another process's log; `sealReasoning` if the caller asks for sealed reasoning.
   */
  constructor(
    initial: ResponseObject,
    nextSequence = 0,
    private readonly now: () => number = () => Math.floor(Date.now() / 1000),
    sealReasoning?: (text: string) => string,
  ) {
    this.#log = new LogWriter(initial, nextSequence);
    this.#message = new MessageWriter(this.#log);
    this.#reasoning = new ReasoningWriter(this.#log, sealReasoning);
    this.#calls = new CallWriter(this.#log, modelTools(initial.tools).targets);
    this.#serverItems = new ServerItemWriter(this.#log);
  }

  /** A copy of the current response. */
  get response(): ResponseObject {
    return this.#log.snapshot();
  }

  get finished(): boolean {
    return isFinished(this.#log.response);
  }

  /** Begins the log: created, and queued if the response waits for a worker. */
  create(): ResponseEvent[] {
    const created = this.#lifecycle('response.created');
    return this.#log.response.status === 'queued' ? [created, this.#lifecycle('response.queued')] : [created];
  }

  /** Work begins; repeated as a sign of life if the log had no other event for long. */
  progress(): ResponseEvent[] {
    if (this.finished) return [];
    this.#log.response.status = 'in_progress';
    return [this.#lifecycle('response.in_progress')];
  }

  /** Logs a step of any kind. */
  take(step: MachineStep): ResponseEvent[] {
    if (this.finished) return [];
    switch (step.type) {
      case 'chunk':
        return this.#accept(step.chunk);
      case 'no_answer':
        this.#answers = false;
        return [];
      case 'turn_end':
        return this.#closeWritten(this.#cutOff ? 'incomplete' : 'completed');
      case 'documents':
        this.#documents.push(...step.documents);
        return [];
      case 'item_added':
        return [...this.#closeWritten('completed'), ...this.#serverItems.add(step.item)];
      case 'item_progress':
        return this.#serverItems.progress(step.id, step.phase);
      case 'item_arguments':
        return this.#serverItems.arguments(step.id, step.arguments);
      default:
        return this.#serverItems.done(step.item);
    }
  }

  /** The generation has ended: completed, or incomplete if its token limit or a filter cut it off. */
  end(): ResponseEvent[] {
    if (this.finished) return [];
    const status = this.#cutOff ? 'incomplete' : 'completed';
    const opening = this.#saysNothing() ? this.#message.open() : [];
    const events = [...opening, ...this.#closeWritten(status), ...this.#serverItems.interrupt()];
    if (this.#cutOff) this.#log.response.incomplete_details = { reason: this.#cutOff };
    return [...events, this.#finish(status, this.#cutOff ? 'response.incomplete' : 'response.completed')];
  }

  /** The caller has stopped the generation. There is no event of that name, so `incomplete` has the status. */
  cancel(): ResponseEvent[] {
    if (this.finished) return [];
    const events = [...this.#closeWritten('incomplete'), ...this.#serverItems.interrupt()];
    return [...events, this.#finish('cancelled', 'response.incomplete')];
  }

  /** The generation has failed: an `error` event, then `response.failed`; the text so far stays in the output. */
  fail(error: MegaNestError): ResponseEvent[] {
    if (this.finished) return [];
    for (const item of this.#log.response.output) {
      if ('status' in item && !settled.has(item.status)) item.status = 'incomplete';
    }
    this.#log.response.error = responseError(error);
    return [this.#log.add(errorEvent(error)), this.#finish('failed', 'response.failed')];
  }

  /** Only one of reasoning, message and calls is open at a time: each closes the one before it. */
  #accept(chunk: GenerationChunk): ResponseEvent[] {
    // A refusal in place of an answer is complete; a refusal after text has cut the answer off.
    const isWhole = chunk.refusal === true && !this.#said;
    if (!isWhole) this.#cutOff ??= incompleteReasons[chunk.finishReason ?? 'stop'];
    this.#said ||= chunk.text !== '' && chunk.refusal !== true;
    if (chunk.usage) this.#usage = sum(this.#usage, chunk.usage);
    const events: ResponseEvent[] = [];
    if (chunk.reasoning) {
      events.push(...this.#message.close('completed'), ...this.#calls.close('completed'));
      events.push(...this.#reasoning.delta(chunk.reasoning));
    }
    if (chunk.text !== '' || chunk.logprobs?.length) {
      events.push(...this.#reasoning.close('completed'), ...this.#calls.close('completed'));
      events.push(...this.#message.delta(chunk));
    }
    if (chunk.citations?.length) events.push(...this.#message.annotate(chunk.citations, this.#documents));
    this.#message.judge(chunk.certainty);
    for (const piece of chunk.toolCalls ?? []) {
      events.push(...this.#reasoning.close('completed'), ...this.#message.close('completed'));
      events.push(...this.#calls.delta(piece));
    }
    return events;
  }

  #closeWritten(status: ItemStatus): ResponseEvent[] {
    return [this.#reasoning, this.#message, this.#calls].flatMap((writer) => writer.close(status));
  }

  /** True if no item is an answer; the response then gets an empty message. */
  #saysNothing(): boolean {
    return this.#answers && !this.#log.response.output.some(({ type }) => answers.has(type));
  }

  #finish(status: ResponseObject['status'], type: LifecycleType): ResponseEvent {
    const { response } = this.#log;
    response.status = status;
    if (this.#usage) response.usage = responseUsage(this.#usage);
    if (status === 'completed') response.completed_at = this.now();
    return this.#lifecycle(type);
  }

  #lifecycle(type: LifecycleType): ResponseEvent {
    return this.#log.add({ type, response: this.#log.snapshot() });
  }
}

type IncompleteReason = NonNullable<ResponseObject['incomplete_details']>['reason'];
const incompleteReasons: Readonly<Partial<Record<string, IncompleteReason>>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};
const settled: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed']);
const answers: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'custom_tool_call',
  'mcp_approval_request',
]);

function sum(before: TokenUsage | undefined, usage: TokenUsage): TokenUsage {
  if (!before) return usage;
  const reasoningTokens = (before.reasoningTokens ?? 0) + (usage.reasoningTokens ?? 0);
  return {
    promptTokens: before.promptTokens + usage.promptTokens,
    completionTokens: before.completionTokens + usage.completionTokens,
    cachedTokens: before.cachedTokens + usage.cachedTokens,
    ...(reasoningTokens > 0 && { reasoningTokens }),
  };
}

/** The `error` field of a failed response. `context_length_exceeded` keeps its name: Codex acts on it. */
function responseError({ code, status, message }: MegaNestError): { code: string; message: string } {
  if (code === 'context_length_exceeded') return { code, message };
  if (status === 429) return { code: 'rate_limit_exceeded', message };
  return { code: status < 500 ? 'invalid_prompt' : 'server_error', message };
}

/** The event that precedes `response.failed`. */
export function errorEvent({
  code,
  type,
  message,
  param,
}: MegaNestError): Omit<ErrorEvent, 'sequence_number'> {
  return { type: 'error', code, message, param, error: { type, code, message, param } };
}
