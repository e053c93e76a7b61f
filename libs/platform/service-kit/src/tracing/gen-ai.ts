import { startSpan, type GenerationChunk } from '#platform/contracts';
import { metrics, type Attributes, type Histogram } from '@opentelemetry/api';

/** A generation, as OpenTelemetry's semantic conventions for generative AI see it. */
export interface GenAiCall {
  /** `client` asks for it, `server` makes it. */
  side: 'client' | 'server';
  model: string;
  /** Of the server: the span of the generation lies below this one. */
  traceparent?: string;
}

/** The measurement of a generation under way. */
export interface GenAiMeasurement {
  firstToken(): void;
  end(end: { usage?: GenerationChunk['usage']; error?: unknown }): void;
}

interface Instruments {
  duration: Histogram;
  firstToken: Histogram | undefined;
  perToken: Histogram | undefined;
  tokens: Histogram | undefined;
}

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokenCounts = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];

let instruments: Record<GenAiCall['side'], Instruments> | undefined;

/** Makes the instruments of the meter provider that is there now; false: nothing is recorded any more. */
export function recordGenAi(on: boolean): void {
  instruments = on ? { client: clientInstruments(), server: serverInstruments() } : undefined;
}

function histogram(name: string, description: string, boundaries = seconds, unit = 's'): Histogram {
  const advice = { explicitBucketBoundaries: boundaries };
  return metrics.getMeter('meganest').createHistogram(name, { description, unit, advice });
}

function clientInstruments(): Instruments {
  return {
    duration: histogram('gen_ai.client.operation.duration', 'Time of an answer'),
    tokens: histogram('gen_ai.client.token.usage', 'Tokens read and written', tokenCounts, '{token}'),
    firstToken: undefined,
    perToken: undefined,
  };
}

function serverInstruments(): Instruments {
  return {
    duration: histogram('gen_ai.server.request.duration', 'Time of a generation'),
    firstToken: histogram('gen_ai.server.time_to_first_token', 'Time to the first token'),
    perToken: histogram('gen_ai.server.time_per_output_token', 'Time of each token after the first one'),
    tokens: undefined,
  };
}

/** Begins the measurement and, on the server, the span of a generation. */
export function startGenAi({ side, model, traceparent }: GenAiCall): GenAiMeasurement {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'meganest',
    'gen_ai.request.model': model,
  };
  const span =
    side === 'server' ? startSpan(`chat ${model}`, { kind: 'internal', traceparent, attributes }) : undefined;
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1_000;
  let firstAt: number | undefined;
  return {
    firstToken: () => {
      firstAt = elapsed();
      instruments?.[side].firstToken?.record(firstAt, attributes);
    },
    end: ({ usage, error }) => {
      if (usage) {
        span?.setAttributes({
          'gen_ai.usage.input_tokens': usage.promptTokens,
          'gen_ai.usage.output_tokens': usage.completionTokens,
        });
      }
      span?.end(error);
      if (!instruments) return;
      const { duration, tokens, perToken } = instruments[side];
      const took = elapsed();
      const type = error === undefined ? {} : { 'error.type': typeOf(error) };
      duration.record(took, { ...attributes, ...type });
      if (!usage) return;
      tokens?.record(usage.promptTokens, { ...attributes, 'gen_ai.token.type': 'input' });
      tokens?.record(usage.completionTokens, { ...attributes, 'gen_ai.token.type': 'output' });
      const later = usage.completionTokens - 1;
      if (firstAt !== undefined && later > 0) perToken?.record((took - firstAt) / later, attributes);
    },
  };
}

function typeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '_OTHER';
}
