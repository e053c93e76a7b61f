import { randomUUID } from 'node:crypto';
import { recordSpans } from '#platform/contracts';
import { metrics, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { version, type ServiceIdentity } from '../service-identity.js';
import { recordGenAi } from './gen-ai.js';

const maxExportMs = 30_000;

/** Sends the remaining spans and metrics, and stops. */
export type StopTracing = () => Promise<void>;

/** Telemetry in addition to traces. */
export interface TelemetryOptions {
  /** Interval of the metrics of generations; undefined: they are not sent. */
  metricsEveryMs?: number | undefined;
}

/**
 * Sends the spans of this process to an OpenTelemetry collector (OTLP over HTTP, JSON), in batches, beside the work,
 * and the metrics of its generations where they are wanted. The exporter's other variables
 * (`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_TRACES_SAMPLER`, …) are read by OpenTelemetry itself.
 */
export function startTracing(
  identity: Pick<ServiceIdentity, 'service'>,
  endpoint: string,
  { metricsEveryMs }: TelemetryOptions = {},
): StopTracing {
  const url = endpoint.replace(/\/+$/, '');
  const resource = resourceFromAttributes({
    'service.name': identity.service,
    'service.namespace': 'meganest',
    'service.version': version,
    'service.instance.id': randomUUID(),
  });
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` }))],
  });
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  recordSpans(true);
  const stopMetrics = metricsEveryMs === undefined ? undefined : startMetrics(resource, url, metricsEveryMs);
  return async () => {
    recordSpans(false);
    trace.disable();
    propagation.disable();
    // A collector that is away must not keep a service from stopping.
    await Promise.allSettled([provider.shutdown(), stopMetrics?.()]);
  };
}

function startMetrics(resource: Resource, url: string, everyMs: number): () => Promise<void> {
  const exporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` });
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(everyMs, maxExportMs),
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  recordGenAi(true);
  return async () => {
    recordGenAi(false);
    metrics.disable();
    await provider.shutdown();
  };
}
