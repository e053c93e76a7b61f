import { MegaNestError } from '#platform/contracts';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { startNats, type TestNats } from '#platform/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { echo, startEcho, work, type EchoInstance, type Workplace } from './echo-service.js';

let nats: TestNats;
let connection: MessagingConnection;
let client: RpcClient;
const started: EchoInstance[] = [];

beforeAll(async () => {
  // A user that may call services, but not one instance of them.
  nats = await startNats(`no_auth_user: all
  authorization { users: [
    { user: all, password: secret }
    { user: old, password: secret, permissions: { publish: { deny: "meganest.echo.*.*" } } }
  ] }\n`);
});
afterAll(() => nats.stop());
beforeEach(async () => {
  connection = await connect('all');
  client = new RpcClient(connection);
});
afterEach(async () => {
  client.close();
  await connection.close();
  await Promise.all(started.splice(0).map((instance) => instance.close()));
});

const connect = (user: string) =>
  MessagingConnection.open({ url: nats.url, name: user, user, password: 'secret' });
const start = async (name: string, workplace?: Workplace) => {
  const instance = await startEcho(nats.url, name, workplace);
  started.push(instance);
  return instance;
};

/** So many calls, eight at a time: how many each instance did, and in how long. */
async function callAll(caller: RpcClient, calls: number) {
  const done: Record<string, number> = {};
  let left = calls;
  const startedAt = performance.now();
  const worker = async () => {
    while (left-- > 0) {
      const { instance } = await caller.request(work, {});
      done[instance] = (done[instance] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return { done, ms: performance.now() - startedAt };
}

it('gives a slow instance less to do than a fast one, which ends all sooner', async () => {
  await start('slow', { workMs: 100, capacity: Infinity });
  await start('fast', { workMs: 4, capacity: Infinity });
  const byChance = new RpcClient(connection, { balance: false });
  await client.request(echo, { text: 'so that the instances are known' });
  await expect.poll(async () => (await callAll(client, 8)).done['fast'] ?? 0).toBeGreaterThan(0);
  const [balanced, random] = [await callAll(client, 80), await callAll(byChance, 80)];
  byChance.close();
  expect(balanced.done['fast']).toBeGreaterThan(2 * balanced.done['slow']!);
  expect(balanced.ms).toBeLessThan(0.75 * random.ms);
});

it('refuses a call only when all instances are full', async () => {
  for (const name of ['one', 'two', 'three']) await start(name, { workMs: 600, capacity: 2 });
  await client.request(echo, { text: 'x' });
  const calls = (count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => client.request(work, {})));
  await expect.poll(async () => (await calls(6)).map(({ status }) => status)).not.toContain('rejected');
  const refused = (await calls(7)).flatMap((one) =>
    one.status === 'rejected' ? [one.reason as unknown] : [],
  );
  expect(refused).toMatchObject([{ code: 'overloaded', retryAfter: 1 }]);
});

it('says that a model is away where the instances serve others', async () => {
  await start('large');
  const call = { text: 'x', model: 'small' };
  await expect(client.request(echo, call)).rejects.toMatchObject({ code: 'model_not_found' });
  await expect(client.request(echo, call, { model: 'small' })).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('no instance that serves the model small is running') as string,
    retryAfter: 1,
  });
});

it('sends calls of the same key to one instance, and goes on elsewhere when that one dies', async () => {
  for (const name of ['one', 'two', 'three']) await start(name);
  const call = async () =>
    (await client.request(echo, { text: 'x' }, { affinity: 'a conversation' })).instance;
  await call();
  await expect
    .poll(async () => new Set([await call(), await call(), await call(), await call()]).size)
    .toBe(1);
  const home = await call();
  await started[['one', 'two', 'three'].indexOf(home)]!.die();
  // A call that the server hands on before it notices the end is lost with the instance.
  await expect.poll(() => call().catch(() => home)).not.toBe(home);
  const others = await Promise.all(Array.from({ length: 10 }, call));
  expect(others).not.toContain(home);
});

it('loses no call while an instance stops', async () => {
  const first = await start('one');
  await start('two');
  await client.request(echo, { text: 'x' });
  const run = { over: false };
  const answers: string[] = [];
  const caller = (async () => {
    while (!run.over) answers.push((await client.request(echo, { text: 'x' })).instance);
  })();
  await expect.poll(() => new Set(answers).size).toBe(2);
  await first.close();
  started.shift();
  const before = answers.length;
  await expect.poll(() => answers.length).toBeGreaterThan(before + 20);
  run.over = true;
  await caller;
  expect(new Set(answers.slice(before + 1))).toEqual(new Set(['two']));
});

it('asks every instance at once', async () => {
  for (const name of ['one', 'two']) await start(name);
  const replies = await client.requestAll(echo, { text: 'x' }, { deadline: Date.now() + 5_000 });
  expect(replies.map(({ instance }) => instance).toSorted()).toEqual(['one', 'two']);
});

it('leaves the choice to the queue group where the server lets nobody call an instance', async () => {
  for (const name of ['one', 'two']) await start(name);
  const old = await connect('old');
  const caller = new RpcClient(old);
  const startedAt = performance.now();
  for (let call = 0; call < 20; call += 1) {
    const answer = await caller.request(echo, { text: 'x' }).catch((error: unknown) => error);
    expect(answer).not.toBeInstanceOf(MegaNestError);
  }
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  caller.close();
  await old.close();
});
