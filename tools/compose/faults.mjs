/** Steps of `npm run test:compose`: what an operator does, and what breaks. Each resolves with a detail for its line. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { poll } from './client.mjs';
import { run } from './docker.mjs';
import { requireDocument, requireHealthy } from './first-use.mjs';

const question = 'What does the Quibblewick engine run on?';
const proxyFile = 'deploy/compose.proxy.yml';

/** Repeats `act`, `parallel` at a time, until `work` has ended. Resolves with all results. Errors: the first of either. */
async function during(work, parallel, act) {
  const over = new AbortController();
  const results = [];
  const repeat = async () => {
    do results.push(await act());
    while (!over.signal.aborted);
  };
  const ended = work().finally(() => over.abort());
  await Promise.all([ended, ...Array.from({ length: parallel }, repeat)]);
  return results;
}

/** When the container got SIGTERM last, by Docker's own record, in milliseconds. */
async function signalledAt(id, sinceMs) {
  const range = ['--since', String(sinceMs / 1_000), '--until', String(Date.now() / 1_000)];
  const filters = ['--filter', `container=${id}`, '--filter', 'event=kill'];
  const lines = await run('docker', ['events', ...range, ...filters, '--format', '{{.TimeNano}}']);
  return Number(lines.trim().split('\n').at(-1)) / 1e6;
}

export async function restartUnderStreams({ compose, containers, client }) {
  const startedAt = Date.now();
  const streamAgain = async () => {
    // A request that finds the service gone is refused with 503. A stream that has begun ends whole.
    const stream = await client.stream('Write a long story about a lighthouse.').catch(() => delay(200));
    return stream && { begunAt: stream.begunAt, ...(await stream.ended) };
  };
  // Streams run at every moment, so that the signal meets some.
  const results = await during(() => compose(['restart', 'llm']), 8, streamAgain);
  const streams = results.filter((stream) => stream !== undefined);
  const { id } = (await containers()).find(({ service }) => service === 'llm');
  const stoppedAt = await signalledAt(id, startedAt);
  const caught = streams.filter(({ begunAt, endedAt }) => begunAt < stoppedAt && endedAt > stoppedAt);
  assert.ok(caught.length > 0, `none of ${streams.length} streams ran when the restart began`);
  const wholeCount = streams.filter(({ isWhole }) => isWhole).length;
  assert.equal(wholeCount, streams.length, 'a stream did not end with [DONE]');
  await poll('an answer after the restart', async () => (await client.stream('Hello')).ended);
  return `${streams.length} streams ended with [DONE], ${caught.length} of them caught by the signal`;
}

/**
 * Sends SIGKILL to the first process of a container, which its restart policy starts again; `docker kill` would not. A
 * container that sees the engine's processes sends it, so that neither root nor an engine on this machine is needed.
 */
async function killContainer({ pid }, image) {
  const rights = [
    '--pid',
    'host',
    '--user',
    '0',
    '--cap-drop',
    'ALL',
    '--cap-add',
    'KILL',
    '--network',
    'none',
  ];
  await run('docker', ['run', '--rm', ...rights, image, 'sh', '-c', `kill -9 ${pid}`]);
}

/** Kills a container, and waits until Docker has started it again. */
async function killAndWait({ containers, image }, victim) {
  await killContainer(victim, image);
  await poll(`${victim.name} runs again`, async () => {
    const now = (await containers()).find(({ id }) => id === victim.id);
    return now?.state === 'running' && now.startedAt !== victim.startedAt ? now : undefined;
  });
}

export async function killEach(project) {
  const { containers, client } = project;
  const victims = (await containers()).filter(({ state }) => state === 'running');
  let asked = 0;
  let again = 0;
  for (const victim of victims) {
    const tries = await during(
      () => killAndWait(project, victim),
      2,
      () => client.askPatiently(question),
    );
    asked += tries.length;
    again += tries.filter((count) => count > 1).length;
  }
  await poll('every service is healthy', () => client.getJson('/v1/health_check'));
  await requireDocument(client);
  return `${asked} chats answered, ${again} of them after a retry`;
}

/** Instances of a service that the gateway's discovery finds. */
async function countInstances(client, service) {
  const { instances } = await client.getJson('/v1/instances');
  return instances.filter(({ service: name }) => name === service).length;
}

export async function runSeveral(project) {
  const { compose, containers, client } = project;
  const scale = ['llm', 'embedding', 'gateway'].flatMap((name) => ['--scale', `${name}=2`]);
  await compose(['up', '--detach', '--wait', ...scale], { files: [proxyFile] });
  const all = await requireHealthy(containers);
  const gateways = all.filter(({ service }) => service === 'gateway');
  assert.equal(gateways.length, 2);
  for (const name of ['llm', 'embedding', 'gateway'])
    await poll(
      `two instances of ${name}`,
      async () => (await countInstances(client, name)) === 2 || undefined,
    );
  const tries = await during(
    () => killAndWait(project, gateways[0]),
    4,
    () => client.askPatiently(question),
  );
  await compose(['up', '--detach', '--wait', '--remove-orphans']);
  await requireDocument(client);
  return `${tries.length} chats answered while one gateway was killed`;
}

/** The longest time without an answer while `work` runs, in seconds. */
async function longestOutage(client, work) {
  let last = performance.now();
  let longest = 0;
  const ask = async () => {
    const answered = await client.ask(question).then(
      () => true,
      () => false,
    );
    if (answered) {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    } else await delay(100);
  };
  await during(work, 1, ask);
  await poll('an answer', () => client.ask(question));
  return Math.max(longest, performance.now() - last) / 1_000;
}

/** What `up --build` does with another version: every container of the built image is made again. */
export async function upgrade({ compose, containers, client, image }) {
  const built = (await run('docker', ['image', 'inspect', '--format', '{{.Id}}', image])).trim();
  const services = (await containers())
    .filter(({ image: used, state }) => used === built && state === 'running')
    .map(({ service }) => service);
  assert.ok(services.length > 1, 'containers of the built image');
  const outage = await longestOutage(client, () =>
    compose(['up', '--build', '--detach', '--wait', '--force-recreate', '--no-deps', ...services]),
  );
  await requireDocument(client);
  // 30 s on a machine that is not busy.
  assert.ok(outage < 90, `${outage.toFixed(1)} s without an answer`);
  return `${outage.toFixed(1)} s without an answer`;
}

export async function startAgain({ compose, containers, client }) {
  await compose(['down']);
  await compose(['up', '--detach', '--wait']);
  await requireHealthy(containers);
  await requireDocument(client);
}

/** The commands of docs/operations.md. */
export async function backUpAndRestore({ compose, client }) {
  const database = ['--username=meganest', '--dbname=meganest'];
  const backup = await compose(['exec', '-T', 'postgres', 'pg_dump', ...database, '--format=custom'], {
    binary: true,
  });
  await compose(['down', '--volumes']);
  await compose(['up', '--detach', '--wait', 'postgres']);
  const restore = [
    'exec',
    '-T',
    'postgres',
    'pg_restore',
    ...database,
    '--clean',
    '--if-exists',
    '--exit-on-error',
  ];
  await compose(restore, { input: backup });
  await compose(['up', '--detach', '--wait']);
  await requireDocument(client);
  return `${Math.round(backup.length / 1_000)} kB`;
}
