import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
} from '@opentelemetry/api';

/** A piece of work that a tracing backend shows, from its start until `end`. */
export interface RunningSpan {
  /** W3C trace context for the calls that this work makes. */
  traceparent: string | undefined;
  /** Adds what became known while it ran. */
  setAttributes(attributes: Attributes): void;
  /** `error`: what went wrong, where something did. */
  end(error?: unknown): void;
}

export interface SpanOptions {
  /** Who waits: `server` answers a request, `client` makes one, `internal` is a step of a service's own. */
  kind: 'server' | 'client' | 'internal';
  /** W3C trace context of the work that this one belongs to; unset begins a trace. */
  traceparent?: string;
  attributes?: Attributes;
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

let recording = false;

/** Tells {@link startSpan} that spans are read, or no longer: where they are not it does not ask OpenTelemetry at all. */
export function recordSpans(on: boolean): void {
  recording = on;
}

/**
 * Begins a span. Where none are recorded it costs nothing, and `traceparent` is handed on as it came.
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
