import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { judge } from '#platform/contracts';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { startNats, startService, type TestNats, type TestService } from '#platform/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
}
interface Batch {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Span[] }[];
  }[];
}

const spanKinds = { server: 2 };
const batches: Batch[] = [];
let collector: Server;
let nats: TestNats;
let service: TestService;

beforeAll(async () => {
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await json(request);
    if (request.url === '/v1/traces') batches.push(body as Batch);
    response.setHeader('content-type', 'application/json').end('{}');
  };
  collector = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  nats = await startNats();
  service = await startService('guardrail', {
    NATS_URL: nats.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
  });
});
afterAll(async () => {
  await nats?.stop();
  collector?.close();
});

it('sends the spans of requests and calls to the collector, each below its caller', async () => {
  const trace = 'a'.repeat(32);
  await fetch(`${service.url}/v1/guardrails`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: `00-${trace}-${'1'.repeat(16)}-01` },
    body: '{"text": "hello"}',
  });
  const connection = await MessagingConnection.open({ url: nats.url, name: 'test' });
  const client = new RpcClient(connection);
  const traceparent = `00-${trace}-${'2'.repeat(16)}-01`;
  await client.request(judge, { texts: ['hello'], side: 'input' }, { traceparent });
  await expect(client.request(judge, { texts: [], side: 'input' }, { traceparent })).rejects.toThrow('texts');
  client.close();
  await connection.close();
  // What is still waiting in the batch is sent before the service ends.
  await service.stop();

  const spans = batches.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
  expect(spans).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({
        name: 'POST /v1/guardrails',
        traceId: trace,
        parentSpanId: '1'.repeat(16),
        kind: spanKinds.server,
      }),
      expect.objectContaining({ name: judge.subject, traceId: trace, parentSpanId: '2'.repeat(16) }),
    ]),
  );
  expect(spans.filter(({ name }) => name === '/live')).toEqual([]);
  expect(batches[0]?.resourceSpans[0]?.resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'guardrail' },
  });
});
