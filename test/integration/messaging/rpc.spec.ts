import { MegaNestError } from '#platform/contracts';
import { MessagingConnection, RpcClient, ServiceDirectory } from '#platform/messaging';
import { startNats, type TestNats } from '#platform/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { count, echo, nobody, startEcho, type EchoInstance } from './echo-service.js';

let nats: TestNats;
let connection: MessagingConnection;
let client: RpcClient;
let service: EchoInstance;

beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

beforeEach(async () => {
  connection = await MessagingConnection.open({ url: nats.url, name: 'test' });
  client = new RpcClient(connection);
  service = await startEcho(nats.url);
});
afterEach(async () => {
  await service.close();
  client.close();
  await connection.close();
});

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a call over NATS', () => {
  it('answers a request', async () => {
    expect(await client.request(echo, { text: 'hello' })).toEqual({ text: 'hello', instance: 'one' });
  });

  it('names the field of a bad request, whoever sends it', async () => {
    const answer = await connection.nats.request(echo.subject, '{"text":""}', { timeout: 2_000 });
    expect(answer.json()).toMatchObject({ code: 'invalid_request', status: 400, param: 'text' });
    expect(answer.headers?.get('Nats-Service-Error-Code')).toBe('400');
  });

  it('keeps the cause of an unexpected error visible', async () => {
    const error = await failureOf(client.request(echo, { text: 'x', fail: true }));
    expect(error).toMatchObject({
      code: 'internal_error',
      message: 'The echo service failed: the disk is on fire',
    });
  });

  it('repeats only the beginning of what was sent, so that the error can be sent back', async () => {
    const error = await failureOf(client.request(echo, { text: 'y'.repeat(400_000), repeat: true }));
    expect(error).toMatchObject({ code: 'internal_error' });
    expect(String(error).length).toBeLessThan(5_000);
    expect(await client.request(echo, { text: 'goes on' })).toMatchObject({ text: 'goes on' });
  });

  it('fails at once and names the service when nobody serves it', async () => {
    const error = await failureOf(client.request(nobody, {}));
    expect(error).toMatchObject({ code: 'service_unavailable', status: 503, service: 'nobody' });
  });

  it('carries requests and replies that no single message holds', async () => {
    const others = await Promise.all([startEcho(nats.url, 'two'), startEcho(nats.url, 'three')]);
    const text = 'é"x'.repeat(3_000_000);
    const answers = await Promise.all([
      client.request(echo, { text }),
      client.request(echo, { text: `${text}!` }),
      client.request(echo, { text: 'short' }),
    ]);
    expect(answers.map((answer) => answer.text.length)).toEqual([text.length, text.length + 1, 5]);
    expect(answers[0]?.text === text).toBe(true);
    await Promise.all(others.map((other) => other.close()));
  });

  it('stops a large request whose caller has left', async () => {
    const abort = new AbortController();
    const text = 'x'.repeat(3_000_000);
    const work = failureOf(client.request(echo, { text, hang: true }, { signal: abort.signal }));
    await expect.poll(() => service.witness.started).toBe(1);
    abort.abort();
    expect(await work).toMatchObject({ code: 'cancelled' });
    await service.witness.whenStopped();
  });

  it('tells a caller that knows no parts that the answer is too large for it', async () => {
    const text = 'x'.repeat(1_000_000);
    const answer = await connection.nats.request(
      echo.subject,
      JSON.stringify({ text: text + 'y'.repeat(40_000) }),
    );
    expect(answer.json()).toMatchObject({ code: 'payload_too_large' });
  });

  it('refuses what is beyond the limit of a body', async () => {
    const text = 'x'.repeat(64 * 1024 * 1024);
    expect(await failureOf(client.request(echo, { text }))).toMatchObject({ code: 'payload_too_large' });
  });

  it('gives up at the deadline and stops the work', async () => {
    const error = await failureOf(
      client.request(echo, { text: 'x', hang: true }, { deadline: Date.now() + 200 }),
    );
    expect(error).toMatchObject({ code: 'deadline_exceeded' });
    await service.witness.whenStopped();
  });

  it('stops the work when its signal is aborted', async () => {
    const abort = new AbortController();
    const work = failureOf(client.request(echo, { text: 'x', hang: true }, { signal: abort.signal }));
    await connection.nats.flush();
    abort.abort();
    expect(await work).toMatchObject({ code: 'cancelled' });
    await service.witness.whenStopped();
  });

  it('fails soon, naming the service, when the instance that runs it dies; others go on', async () => {
    const victim = await startEcho(nats.url, 'two');
    const running = Array.from({ length: 12 }, () =>
      failureOf(client.request(echo, { text: 'x', hang: true }, { deadline: Date.now() + 20_000 })),
    );
    await expect.poll(() => victim.witness.started).toBeGreaterThan(0);
    await victim.die();
    expect(await Promise.race(running)).toMatchObject({
      code: 'service_unavailable',
      message: expect.stringMatching(/echo .*the instance that ran the call is gone/),
    });
    const settled = Promise.all(running.map(async (call) => (await call) as MegaNestError));
    client.close();
    const codes = (await settled).map(({ code }) => code);
    expect(codes.filter((code) => code === 'service_unavailable')).toHaveLength(victim.witness.started);
    expect(codes.filter((code) => code === 'cancelled')).toHaveLength(12 - victim.witness.started);
    await victim.close();
  });

  it('shares the load between the instances of a service', async () => {
    const other = await startEcho(nats.url, 'two');
    const answers = await Promise.all(Array.from({ length: 60 }, () => client.request(echo, { text: 'x' })));
    expect(new Set(answers.map(({ instance }) => instance))).toEqual(new Set(['one', 'two']));
    const instances = await new ServiceDirectory(connection).list('echo');
    expect(
      instances.map(({ requests }) => requests).reduce((sum, value) => sum + value, 0),
    ).toBeGreaterThanOrEqual(60);
    expect(instances.map(({ load }) => load['echo_calls'])).toEqual(
      instances.map(() => ({ started: expect.any(Number) as number })),
    );
    await other.close();
  });
});

describe('a stream over NATS', () => {
  it('arrives complete and in order', async () => {
    const values: number[] = [];
    for await (const { value } of client.stream(count, { upTo: 500 })) values.push(value);
    expect(values).toEqual(Array.from({ length: 500 }, (_unused, index) => index));
  });

  it('passes an error on after what came before it', async () => {
    const values: number[] = [];
    const read = async () => {
      for await (const { value } of client.stream(count, { upTo: 10, failAt: 3 })) values.push(value);
    };
    expect(await failureOf(read())).toBeInstanceOf(MegaNestError);
    expect(values).toEqual([0, 1, 2]);
  });

  it('stops the service when the reader leaves', async () => {
    for await (const { value } of client.stream(count, { upTo: 1_000_000 })) if (value === 5) break;
    await service.witness.whenStopped();
    expect(service.witness.produced).toBeLessThan(1_000_000);
  });

  it('stops the service when the caller vanishes without a word', async () => {
    const vanishing = await MessagingConnection.open({ url: nats.url, name: 'vanishing' });
    const reader = new RpcClient(vanishing).stream(count, { upTo: 100_000_000 });
    await reader.next();
    await vanishing.nats.close();
    await service.witness.whenStopped();
    expect(service.witness.produced).toBeLessThan(100_000_000);
  });
});
