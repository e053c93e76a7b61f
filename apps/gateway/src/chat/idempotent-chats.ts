import { createHash, randomUUID } from 'node:crypto';
import { invalidField, MegaNestError } from '#contracts';
import type { ChatCompletionRequest } from '#openai-api';
import { ignoredHeaderName, type HttpCall } from '#service-kit';
import { IdempotentAnswersRepository, type IdempotencyClaim } from '#storage';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

const longestKey = 255;
/** A gateway that dies leaves its keys to others after so long. */
const leaseMs = 30_000;
const renewEveryMs = 10_000;
/** A longer answer is not kept: its request is worked on again. */
const mostCharacters = 1024 * 1024;

/** A request whose key this gateway holds. */
export interface HeldKey {
  /** Passes an event stream through, also to its end when the client leaves, and keeps it. */
  record(reply: FastifyReply, frames: AsyncIterable<string>): AsyncIterable<string>;
  /** Keeps a whole answer. */
  keep(reply: FastifyReply, body: unknown): Promise<void>;
  /** There is no answer to keep; without effect after one was kept. */
  release(): Promise<void>;
}

/**
 * Answers a chat with an Idempotency-Key once, whichever gateway gets it: the same request gets the same bytes for a day. While it is worked
 * on a repeat is a conflict, which clients try again. Answers that failed are not kept.
 */
@Injectable()
export class IdempotentChats {
  constructor(@Inject(IdempotentAnswersRepository) private readonly answers: IdempotentAnswersRepository) {}

  /** The work of a request with a key goes on when its client leaves: it comes back for the answer. */
  unhurried(call: HttpCall): HttpCall {
    return { ...call, signal: new AbortController().signal };
  }

  /**
   * Takes the key, or sends what it has led to and answers undefined. Errors: conflict while it is worked on, or where it was used for
   * another request.
   */
  async begin(
    owner: string,
    key: string,
    request: ChatCompletionRequest,
    reply: FastifyReply,
  ): Promise<HeldKey | undefined> {
    if (key.length > longestKey)
      throw invalidField('idempotency-key', `has more than ${longestKey} characters`);
    const claim = { owner, key, fingerprint: fingerprintOf(request) };
    const lease = randomUUID();
    const found = await this.answers.claim(claim, lease, leaseMs);
    if (found.state === 'claimed') return this.#held(claim, lease);
    if (found.fingerprint !== claim.fingerprint)
      throw conflict('This Idempotency-Key was used for another request.');
    if (found.state === 'busy') throw conflict('A request with the same Idempotency-Key is under way.');
    const { contentType, headers, body } = found.answer;
    await reply
      .status(200)
      .headers(headers)
      .header('idempotent-replayed', 'true')
      .type(contentType)
      .send(body);
    return undefined;
  }

  #held(claim: IdempotencyClaim, lease: string): HeldKey {
    const timer = setInterval(
      () => void this.answers.renew(claim, lease, leaseMs).catch(() => undefined),
      renewEveryMs,
    ).unref();
    let ended = false;
    const end = async (contentType?: string, headers: Record<string, string> = {}, body = '') => {
      if (ended) return;
      ended = true;
      clearInterval(timer);
      try {
        if (contentType === undefined || body.length > mostCharacters)
          await this.answers.release(claim, lease);
        else await this.answers.keep(claim, lease, { contentType, headers, body });
      } catch (error) {
        // Its lease runs out.
        new Logger('idempotency').warn(`an answer could not be kept: ${String(error)}`);
      }
    };
    return {
      record: (reply, frames) =>
        recorded(frames, (text) => end('text/event-stream; charset=utf-8', headersOf(reply), text), end),
      keep: (reply, body) => end('application/json; charset=utf-8', headersOf(reply), JSON.stringify(body)),
      release: () => end(),
    };
  }
}

/** Hands on frames, and all of them together at the end; reads on by itself where the reader leaves. */
async function* recorded(
  frames: AsyncIterable<string>,
  onWhole: (text: string) => Promise<void>,
  onFailure: () => Promise<void>,
): AsyncGenerator<string, void, void> {
  const iterator = frames[Symbol.asyncIterator]();
  let text = '';
  const next = async () => {
    const one = await iterator.next();
    if (one.done) await onWhole(text);
    else if (text.length <= mostCharacters) text += one.value;
    return one;
  };
  let isLeft = true;
  try {
    for (let one = await next(); !one.done; one = await next()) yield one.value;
    isLeft = false;
  } catch (error) {
    isLeft = false;
    await onFailure();
    throw error;
  } finally {
    if (isLeft) void readOn(next, onFailure);
  }
}

async function readOn(
  next: () => Promise<IteratorResult<string>>,
  onFailure: () => Promise<void>,
): Promise<void> {
  try {
    while (!(await next()).done);
  } catch {
    await onFailure();
  }
}

function headersOf(reply: FastifyReply): Record<string, string> {
  const ignored = reply.getHeader(ignoredHeaderName);
  return typeof ignored === 'string' ? { [ignoredHeaderName]: ignored } : {};
}

function conflict(detail: string): MegaNestError {
  return new MegaNestError('conflict', { detail, param: 'idempotency-key' });
}

function fingerprintOf(request: ChatCompletionRequest): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex');
}
