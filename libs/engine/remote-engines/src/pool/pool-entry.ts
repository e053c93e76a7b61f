import { MegaNestError, type NamedEngine } from '#platform/contracts';
import type { BreakerOptions } from '#platform/foundation';
import type { Dispatcher } from 'undici';
import type { RemoteGenerator } from '../remote-generator-interface.js';

/** An engine of a pool, and where it was named: `api`, `environment` or a file. */
export interface PoolEntry {
  readonly spec: NamedEngine;
  readonly source: string;
  /** Connects to the engine; see {@link RemoteServer}. */
  readonly dispatcher?: Dispatcher | undefined;
  /** A model of the engine that is open already. */
  readonly opened?: { readonly model: string; readonly generator: RemoteGenerator };
}

/** Times of the checks, in milliseconds. */
export interface EngineTimes {
  /** Between two readings of an engine's list of models. Default 30,000. */
  readonly refreshMs?: number;
  /** A call without an answer for this time makes its engine be checked. Default 2,000. */
  readonly suspectMs?: number;
  /** Timeout of a check. Default 3,000. */
  readonly checkMs?: number;
  /** Two failed checks of an engine with waiting calls open its circuit breaker. */
  readonly breaker?: BreakerOptions;
}

/** A call that runs on an engine. Call `end` once it is over. */
export interface RunningCall {
  /** The first part of its answer is there. */
  begun(): void;
  fail(error: unknown): void;
  end(): void;
}

/** Whether another engine may succeed where this one failed. */
export function isFaultOfEngine({ code, final }: MegaNestError): boolean {
  return !final && (code === 'service_unavailable' || code === 'bad_upstream' || code === 'model_not_found');
}
