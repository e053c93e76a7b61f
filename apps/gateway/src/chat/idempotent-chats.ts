import { createHash, randomUUID } from 'node:crypto';
import { invalidField, MegaNestError } from '#platform/contracts';
import type { ChatCompletionRequest } from '#api/openai-api';
import { ignoredHeaderName, type HttpCall } from '#platform/service-kit';
import { IdempotentAnswersRepository, type IdempotencyClaim } from '#platform/storage';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

const maxKeyLength = 255;
/** Other gateways can take the keys of a stopped gateway after this time. */
const leaseMs = 30_000;
const renewEveryMs = 10_000;
/** A longer answer is not stored. A retry runs the request again. */
const maxCharacters = 1024 * 1024;

/** The claim of this gateway on the Idempotency-Key of a request. */
export interface HeldKey {
  /** Passes an event stream through and stores it. Reads the stream to its end even if the client disconnects. */
  record(reply: FastifyReply, frames: AsyncIterable<string>): AsyncIterable<string>;
  /** Stores an answer that is not streamed. */
  keep(reply: FastifyReply, body: unknown): Promise<void>;
  /** Releases the key without an answer. Has no effect after an answer was stored. */
  release(): Promise<void>;
}

/**
 * Runs a chat with an Idempotency-Key once over all gateways: the same request gets the same bytes for a day. A repeat
 * gets the error conflict while the chat runs, and clients retry after it. Failed answers are not stored.
 */
@Injectable()
export class IdempotentChats {
  constructor(@Inject(IdempotentAnswersRepository) private readonly answers: IdempotentAnswersRepository) {}

  /** A request with a key keeps running after its client disconnects, so that the client can retry. */
  unhurried(call: HttpCall): HttpCall {
    return { ...call, signal: new AbortController().signal };
  }

  /**
   * Claims the key. If the key has an answer already, sends that answer and returns undefined. Errors: invalid_request
   * for a key that is too long; conflict while the request runs, or if the key was used for another request.
   */
  async begin(
    owner: string,
    key: string,
    request: ChatCompletionRequest,
    reply: FastifyReply,
  ): Promise<HeldKey | undefined> {
    if (key.length > maxKeyLength)
      throw invalidField('idempotency-key', `has more than ${maxKeyLength} characters`);
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
        if (contentType === undefined || body.length > maxCharacters)
          await this.answers.release(claim, lease);
        else await this.answers.keep(claim, lease, { contentType, headers, body });
      } catch (error) {
        // The lease expires, and a retry can claim the key again.
        new Logger('idempotency').warn(`an answer could not be stored: ${String(error)}`);
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

/** Yields the frames, and passes all of them to `onWhole` at the end. Reads the rest if the consumer stops early. */
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
    else if (text.length <= maxCharacters) text += one.value;
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
