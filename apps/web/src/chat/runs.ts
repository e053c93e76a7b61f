import OpenAI, { APIError } from 'openai';
import { useCallback, useSyncExternalStore } from 'react';
import { messageOf, openai } from '../api/connection';
import { Stored } from '../stored';
import { applyEvent, ended, stoppedItems, type Turn } from './turns';

/** Options of a question. */
export interface Ask {
  model: string;
  /** Parameters of the mega service or the model, by their names. */
  parameters: Readonly<Record<string, unknown>>;
  /** A vector store that is searched in place of the documents. */
  store?: string;
}

/** A running or failed response. */
export interface Run {
  turn: Turn;
  responseId?: string;
  /** The conversation's last item before the question. */
  after: string;
}

type Stream = AsyncIterable<OpenAI.Responses.ResponseStreamEvent>;

/** Runs that continue after a reload of the page. */
const kept = new Stored<Record<string, { responseId: string; question: string; after: string }>>(
  'meganest-runs',
  {},
);

/** The runs of all conversations. They continue while other pages are shown. */
class Runs {
  readonly #runs = new Map<string, Run>();
  /** Promises that resolve when a run has ended and its conversation has been read again. */
  readonly #ends = new Map<string, Promise<void>>();
  readonly #listeners = new Set<() => void>();
  #frame = 0;

  /** Called when a response has ended, to read the conversation again. */
  onEnd: (conversation: string) => Promise<void> = () => Promise.resolve();

  get(conversation: string): Run | undefined {
    return this.#runs.get(conversation);
  }

  /** Resolves when the conversation has no run, or a failed one. */
  settled(conversation: string): Promise<void> {
    return this.#ends.get(conversation) ?? Promise.resolve();
  }

  /** Asks a question in a conversation and follows the answer. */
  async start(conversation: string, question: string, after: string, ask: Ask): Promise<void> {
    this.#set(conversation, { turn: queuedTurn(conversation, question), after });
    await this.#follow(conversation, () =>
      openai().responses.create({
        ...ask.parameters,
        model: ask.model,
        input: question,
        conversation,
        ...(ask.store && { tools: [{ type: 'file_search', vector_store_ids: [ask.store] }] }),
        include: ['file_search_call.results'],
        // A long conversation goes on without its oldest turns.
        truncation: 'auto',
        background: true,
        stream: true,
      }),
    );
  }

  /** Follows a run that was active when the user left the page. */
  async resume(conversation: string): Promise<void> {
    const run = kept.get()[conversation];
    if (!run || this.#runs.has(conversation)) return;
    const { question, after, responseId } = run;
    this.#set(conversation, { turn: queuedTurn(conversation, question), after, responseId });
    await this.#follow(conversation, () =>
      openai().responses.retrieve(responseId, { stream: true, include: ['file_search_call.results'] }),
    );
  }

  /** Stops the answer. The text so far stays. */
  async stop(conversation: string): Promise<void> {
    const { responseId } = this.#runs.get(conversation) ?? {};
    if (responseId) await openai().responses.cancel(responseId);
  }

  /** Removes a run that has ended. */
  drop(conversation: string): void {
    this.#runs.delete(conversation);
    this.#notify();
  }

  readonly subscribe = (notify: () => void): (() => void) => {
    this.#listeners.add(notify);
    return () => this.#listeners.delete(notify);
  };

  #follow(conversation: string, open: () => Promise<Stream>): Promise<void> {
    const end = this.#followToEnd(conversation, open);
    this.#ends.set(conversation, end);
    return end;
  }

  async #followToEnd(conversation: string, open: () => Promise<Stream>): Promise<void> {
    try {
      for await (const event of await open()) this.#apply(conversation, event);
      await this.#readEnd(conversation);
    } catch (error) {
      this.#change(conversation, (turn) => ({ ...turn, state: 'failed', error: messageOf(error) }));
      // The connection was lost, for example by a reload. The response continues and can be resumed later.
      if (!(error instanceof APIError && error.status !== undefined)) return;
    }
    kept.update(({ [conversation]: _ended, ...others }) => others);
    const { turn } = this.#runs.get(conversation) ?? {};
    if (turn?.state === 'cancelled')
      await openai()
        .conversations.items.create(conversation, { items: stoppedItems(turn) })
        .catch(() => undefined);
    await this.onEnd(conversation).catch(() => undefined);
    if (turn?.state !== 'failed') this.drop(conversation);
  }

  /** Reads the response of a stream that ended without its last event: another client may have cancelled it. */
  async #readEnd(conversation: string): Promise<void> {
    const { turn, responseId } = this.#runs.get(conversation) ?? {};
    if (!responseId || (turn?.state !== 'running' && turn?.state !== 'queued')) return;
    const response = await openai().responses.retrieve(responseId, { include: ['file_search_call.results'] });
    this.#change(conversation, (latest) => ended(latest, response));
  }

  #apply(conversation: string, event: OpenAI.Responses.ResponseStreamEvent): void {
    const run = this.#runs.get(conversation);
    if (!run) return;
    if (event.type === 'response.created') {
      const { id: responseId } = event.response;
      this.#set(conversation, { ...run, responseId });
      const { question } = run.turn;
      kept.update((others) => ({ ...others, [conversation]: { responseId, question, after: run.after } }));
    }
    this.#change(conversation, (turn) => applyEvent(turn, event));
  }

  #change(conversation: string, change: (turn: Turn) => Turn): void {
    const run = this.#runs.get(conversation);
    if (run) this.#set(conversation, { ...run, turn: change(run.turn) });
  }

  #set(conversation: string, run: Run): void {
    this.#runs.set(conversation, run);
    this.#notify();
  }

  /** Notifies components at most once per frame, because tokens may come faster than the screen updates. */
  #notify(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      for (const notify of this.#listeners) notify();
    });
  }
}

function queuedTurn(conversation: string, question: string): Turn {
  return { id: `run-${conversation}`, question, itemIds: [], output: [], state: 'queued' };
}

/** The shared store of runs. */
export const runs = new Runs();

/** The run of a conversation, if there is one. */
export function useRun(conversation: string | undefined): Run | undefined {
  const read = useCallback(() => (conversation ? runs.get(conversation) : undefined), [conversation]);
  return useSyncExternalStore(runs.subscribe, read);
}

/** The turns of a conversation with its run at the end. The run replaces the stored turn of the same question. */
export function withRun(turns: readonly Turn[], run: Run | undefined): readonly Turn[] {
  if (!run) return turns;
  const start = turns.findLastIndex(({ itemIds }) => itemIds.includes(run.after)) + 1;
  const stored = run.after === '' || start > 0 ? turns.slice(start) : turns.slice(-1);
  const known = turns.slice(0, turns.length - stored.length);
  return [...known, { ...run.turn, itemIds: stored.flatMap(({ itemIds }) => itemIds) }];
}
