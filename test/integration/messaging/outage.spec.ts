import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { healthMethod } from '#platform/contracts';
import { MessagingConnection, ObjectStore, RpcClient } from '#platform/messaging';
import { startNats, startNatsCluster, type TestNats } from '#platform/testing';
import { Objm } from '@nats-io/obj';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { echo, startEcho } from './echo-service.js';

const description = { filename: 'a.txt', mimeType: 'text/plain' };

let nats: TestNats;
let connection: MessagingConnection;

beforeEach(async () => {
  nats = await startNats();
  connection = await MessagingConnection.open({ url: nats.url, name: 'test' });
});
afterEach(async () => {
  await connection.close();
  await nats.stop();
});

async function readAll(store: ObjectStore, id: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.get(id)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('a NATS server that is away', () => {
  it('is waited for within the deadline of a call, which then says what is missing', async () => {
    const client = new RpcClient(connection);
    nats.server.process.signal('SIGKILL');
    await expect.poll(() => connection.connected).toBe(false);
    const startedAt = performance.now();
    await expect(
      client.request(healthMethod('llm'), {}, { deadline: Date.now() + 300 }),
    ).rejects.toMatchObject({ code: 'service_unavailable', message: /nats.*not connected/, retryAfter: 1 });
    expect(performance.now() - startedAt).toBeGreaterThan(250);
    const left = new AbortController();
    const waiting = client.request(healthMethod('llm'), {}, { signal: left.signal });
    left.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    client.close();
  });

  it('comes back, without what it stored: calls that waited go on, and uploads work', async () => {
    const client = new RpcClient(connection);
    const store = new ObjectStore(connection);
    const { objectId } = await store.put(Buffer.from('before'), description);
    expect(await readAll(store, objectId)).toBe('before');
    const { port } = new URL(nats.url);
    await nats.stop();
    await expect.poll(() => connection.connected).toBe(false);
    const waiting = client.request(healthMethod('llm'), {});
    nats = await startNats(undefined, { port: Number(port) });
    // The call reached the new server, which knows no such service.
    await expect(waiting).rejects.toMatchObject({ message: /llm.*no instance is running/ });
    await expect(readAll(store, objectId)).rejects.toMatchObject({ code: 'not_found' });
    const again = await store.put(Buffer.from('after'), description);
    expect(await readAll(store, again.objectId)).toBe('after');
    client.close();
  });
});

describe('a service that stops', () => {
  const never = new AbortController().signal;
  const elapsedSince = (startedAt: number) => performance.now() - startedAt;

  it('does not wait for a server that is gone', async () => {
    const service = await startEcho(nats.url);
    nats.server.process.signal('SIGKILL');
    await nats.server.exited;
    await expect.poll(() => connection.connected).toBe(false);
    const startedAt = performance.now();
    await service.drain(never);
    await service.close();
    expect(elapsedSince(startedAt)).toBeLessThan(2_000);
  });

  it('does not wait for a server that is lost meanwhile: its calls lose their callers', async () => {
    const service = await startEcho(nats.url);
    const client = new RpcClient(connection);
    const call = client.request(echo, { text: 'a', hang: true }).catch((error: unknown) => error);
    await expect.poll(() => service.witness.started).toBe(1);
    const drained = service.drain(never);
    nats.server.process.signal('SIGKILL');
    const startedAt = performance.now();
    await drained;
    await service.close();
    expect(service.witness.stopped).toBe(true);
    // It had 3 s to come back.
    expect(elapsedSince(startedAt)).toBeGreaterThan(2_500);
    expect(elapsedSince(startedAt)).toBeLessThan(5_500);
    client.close();
    await call;
  });

  it('waits for its calls while the server is there', async () => {
    const service = await startEcho(nats.url);
    const client = new RpcClient(connection);
    const call = client.request(echo, { text: 'a', hang: true });
    await expect.poll(() => service.witness.started).toBe(1);
    const drained = service.drain(never);
    service.witness.stop();
    await drained;
    expect(await call).toMatchObject({ text: 'a' });
    await service.close();
    client.close();
  });

  it('does not wait for a server that hangs while it is asked to stop, once its connection is lost', async () => {
    const road = await openRoad();
    const service = await startEcho(road.url);
    road.block();
    const drained = service.drain(never);
    road.close();
    await expect(drained).resolves.toBeUndefined();
    await service.close();
  });
});

describe('an object store that is away', () => {
  it('is waited for, and content that is small enough is sent again', async () => {
    const store = new ObjectStore(connection);
    await store.put(Buffer.from('before'), description);
    nats.server.process.signal('SIGKILL');
    await nats.server.exited;
    const { port } = new URL(nats.url);
    let given = 0;
    const pieces = async function* () {
      for (const text of ['a', 'b']) {
        given += 1;
        yield await Promise.resolve(Buffer.from(text));
      }
    };
    const waiting = store.put(pieces(), description);
    await expect.poll(() => given).toBe(2);
    const reading = store
      .get('unknown')
      .next()
      .catch((error: unknown) => error);
    await nats.stop();
    nats = await startNats(undefined, { port: Number(port) });
    expect(await readAll(store, (await waiting).objectId)).toBe('ab');
    expect(await reading).toMatchObject({ code: 'not_found' });
  });

  it('is not waited for where the server has none', async () => {
    const plain = await startNats(undefined, { jetStream: false });
    const other = await MessagingConnection.open({ url: plain.url, name: 'test' });
    const startedAt = performance.now();
    await expect(new ObjectStore(other).put(Buffer.from('a'), description)).rejects.toMatchObject({
      code: 'service_unavailable',
      message: /is JetStream enabled/,
    });
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    await other.close();
    await plain.stop();
  });
});

describe('a bucket', () => {
  it('has a bound; an upload beyond it is refused, and harms no other', async () => {
    const store = new ObjectStore(connection, { maxBytes: 2 * 1024 * 1024 });
    const small = () => store.put(Buffer.alloc(1_000, 'a'), description);
    await small();
    await expect(store.put(Buffer.alloc(4 * 1024 * 1024), description)).rejects.toMatchObject({
      code: 'service_unavailable',
      message: /no room/,
      retryAfter: 10,
    });
    const { objectId } = await small();
    expect(await readAll(store, objectId)).toHaveLength(1_000);
  });

  it('has a bound also where none is set', async () => {
    await new ObjectStore(connection).put(Buffer.from('a'), description);
    const store = await new Objm(connection.nats).open('meganest-uploads');
    const { streamInfo } = await store.status();
    expect(streamInfo.config.max_bytes).toBe(8 * 1024 ** 3);
    // Longer than a job waits for its turn.
    expect(streamInfo.config.max_age).toBe(24 * 3_600 * 1e9);
  });

  it('keeps nothing of objects that were read and deleted: no mark, no consumer', async () => {
    const store = new ObjectStore(connection);
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { objectId } = await store.put(Buffer.from(`object ${index}`), description);
      expect(await readAll(store, objectId)).toBe(`object ${index}`);
      ids.push(objectId);
    }
    await store.discard(ids.map((objectId) => ({ objectId })));
    const bucket = await new Objm(connection.nats).open('meganest-uploads');
    const state = async () => (await bucket.status()).streamInfo.state;
    await expect.poll(async () => (await state()).consumer_count).toBe(0);
    expect((await state()).messages).toBe(0);
    await expect(readAll(store, ids[0]!)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('gives back a large content as it was, in pieces', async () => {
    const content = Buffer.alloc(1_500_000, 'MegaNest ');
    const store = new ObjectStore(connection);
    const { objectId, bytes } = await store.put(content, description);
    expect(bytes).toBe(content.length);
    const pieces: Uint8Array[] = [];
    for await (const piece of store.get(objectId)) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(5);
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
    const empty = await store.put(Buffer.alloc(0), description);
    expect(await readAll(store, empty.objectId)).toBe('');
  });

  it('passes the failure of what is stored on', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
      throw new RangeError('the client left');
    }
    await expect(new ObjectStore(connection).put(broken(), description)).rejects.toThrow('the client left');
  });
});

describe('a NATS server of a cluster that is killed', () => {
  it('costs the calls nothing that its client made: it goes to another server', async () => {
    const cluster = await startNatsCluster(2);
    const [first, second] = cluster.nodes;
    const service = await startEcho(second!.url);
    const caller = await MessagingConnection.open({ url: first!.url, name: 'caller' });
    const client = new RpcClient(caller);
    // The servers of a cluster tell each other who listens.
    const isThere = () =>
      client.request(echo, { text: 'before' }).then(
        () => true,
        () => false,
      );
    await expect.poll(isThere).toBe(true);
    // Begun over a second, so that heartbeats of some fall into the moment without a connection.
    const calls = Array.from({ length: 40 }, async (_unused, index) => {
      await delay(index * 25);
      return client.request(echo, { text: `call ${index}`, hang: true });
    });
    await expect.poll(() => service.witness.started, { timeout: 10_000 }).toBe(40);
    await first!.kill();
    await expect.poll(() => caller.reconnects).toBe(1);
    // None of them was told to stop.
    expect(service.witness.stopped).toBe(false);
    service.witness.stop();
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    client.close();
    await caller.close();
    await service.close();
    await cluster.stop();
  });
});

describe('a NATS server that no longer answers, and does not close its connections', () => {
  it('is asked over a new connection', async () => {
    const road = await openRoad();
    const service = await startEcho(nats.url);
    const caller = await MessagingConnection.open({ url: road.url, name: 'caller', pingIntervalMs: 200 });
    const client = new RpcClient(caller);
    expect(await client.request(echo, { text: 'before' })).toMatchObject({ text: 'before' });
    road.block();
    await expect.poll(() => caller.reconnects).toBe(1);
    expect(await client.request(echo, { text: 'after' })).toMatchObject({ text: 'after' });
    client.close();
    await caller.close();
    await service.close();
    road.close();
  });
});

/** A way to the server. Once it is blocked, nothing more comes through the connections that are open. */
async function openRoad() {
  const { port, hostname } = new URL(nats.url);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    sockets.push(socket, onward);
    for (const side of [socket, onward]) side.on('error', () => undefined);
    socket.pipe(onward).pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const block = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`, block, close };
}
