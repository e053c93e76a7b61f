import { recordSpans } from '#contracts';
import { propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { version, type ServiceIdentity } from '../service-identity.js';

/** Sends what is left and stops. */
export type StopTracing = () => Promise<void>;

/**
 * Sends the spans of this process to an OpenTelemetry collector (OTLP over HTTP, JSON), in batches, beside the work. The
 * exporter's other variables (`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_TRACES_SAMPLER`, …) are read by OpenTelemetry itself.
 */
export function startTracing(identity: Pick<ServiceIdentity, 'service'>, endpoint: string): StopTracing {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': identity.service,
      'service.namespace': 'meganest',
      'service.version': version,
    }),
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` })),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  recordSpans(true);
  return async () => {
    recordSpans(false);
    trace.disable();
    propagation.disable();
    // A collector that is away must not keep a service from stopping.
    await provider.shutdown().catch(() => undefined);
  };
}
