import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
} from '@opentelemetry/api';

/** An operation that a tracing backend shows, from its start until `end`. */
export interface RunningSpan {
  /** W3C trace context for the calls of this operation. */
  traceparent: string | undefined;
  /** Adds attributes that become known while the operation runs. */
  setAttributes(attributes: Attributes): void;
  /** `error`: the cause, if the operation failed. */
  end(error?: unknown): void;
}

export interface SpanOptions {
  /** `server` answers a request, `client` makes one, `internal` is a step within a service. */
  kind: 'server' | 'client' | 'internal';
  /** W3C trace context of the parent operation; unset begins a trace. */
  traceparent?: string;
  attributes?: Attributes;
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

let recording = false;

/** Turns the recording of spans on or off. While it is off, {@link startSpan} does not call OpenTelemetry. */
export function recordSpans(on: boolean): void {
  recording = on;
}

/**
 * Begins a span. While recording is off it costs nothing and passes `traceparent` on unchanged.
 * Names and attributes follow OpenTelemetry's semantic conventions.
 */
export function startSpan(name: string, { kind, traceparent, attributes }: SpanOptions): RunningSpan {
  if (!recording) return { traceparent, setAttributes: () => {}, end: () => {} };
  const parent = traceparent ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT;
  const span = trace.getTracer('meganest').startSpan(name, { kind: kinds[kind], attributes }, parent);
  const carrier: { traceparent?: string } = {};
  propagation.inject(trace.setSpan(parent, span), carrier);
  return {
    traceparent: carrier.traceparent ?? traceparent,
    setAttributes: (more) => void span.setAttributes(more),
    end: (error) => {
      if (error !== undefined) {
        if (error instanceof Error) span.recordException(error);
        const message = error instanceof Error ? error.message : undefined;
        span.setStatus({ code: SpanStatusCode.ERROR, message });
      }
      span.end();
    },
  };
}
