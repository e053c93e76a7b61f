/**
 * `npm run test:compose`: MegaNest in containers, as users run it: build, start, documents, speech, restarts, kills,
 * several instances, an upgrade, backup and restore. One line for each step, with its time. It uses the Docker engine
 * that runs, or starts one on Debian (root), and removes everything at the end. Where neither is possible it says
 * "skipped: …" and succeeds; with COMPOSE_TEST_REQUIRED=true it fails.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { makeClient } from './client.mjs';
import { makeProject, run, stopping } from './docker.mjs';
import { provideBaseImages, requireNpmRegistry, SkippedError, startEngine } from './engine.mjs';
import {
  backUpAndRestore,
  killEach,
  restartUnderStreams,
  runSeveral,
  startAgain,
  upgrade,
} from './faults.mjs';
import {
  answerFromSamples,
  checkFiles,
  checkStack,
  citeDocument,
  hearAndSpeak,
  buildImage,
} from './first-use.mjs';

const proxyFile = 'deploy/compose.proxy.yml';
const seconds = (startedAt) => ((performance.now() - startedAt) / 1_000).toFixed(1);

async function step(name, act) {
  const startedAt = performance.now();
  try {
    const detail = await act();
    console.log(`ok      ${name} (${seconds(startedAt)} s)${detail ? `: ${detail}` : ''}`);
    return detail;
  } catch (error) {
    if (!(error instanceof SkippedError)) console.log(`FAILED  ${name} (${seconds(startedAt)} s)`);
    throw error;
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function testProject(project) {
  const client = makeClient(project.url);
  const tested = { ...project, client };
  const steps = [
    ['the files load, with and without settings', checkFiles],
    ['build', buildImage],
    ['up --wait, every container healthy', checkStack],
    ["the README's first question, from the sample documents", answerFromSamples],
    ['ingest, cited answer', citeDocument],
    ['speech, both ways', hearAndSpeak],
    ['restart of llm under streams', restartUnderStreams],
    ['SIGKILL of each container', killEach],
    ['two of llm, embedding and gateway, behind the proxy', runSeveral],
    ['upgrade: every container of the image made again', upgrade],
    ['down, up', startAgain],
    ['backup, down --volumes, restore', backUpAndRestore],
  ];
  for (const [name, act] of steps) await step(name, () => act(tested));
}

async function showLogs({ compose, containers }) {
  for (const { name, state, health, exitCode } of await containers())
    console.log(`${name}: ${state} ${health ?? ''} ${exitCode}`);
  console.log(await compose(['logs', '--no-color', '--tail', '25'], { files: [proxyFile] }));
}

async function remove({ compose, image }) {
  await compose(['down', '--volumes', '--remove-orphans', '--timeout', '5'], {
    files: [proxyFile],
    cleansUp: true,
  });
  // Missing after a build that failed.
  await run('docker', ['image', 'rm', '--force', image], { cleansUp: true });
}

async function testWithEngine(engine) {
  await step('base images', () => provideBaseImages(engine));
  await step('containers reach the npm registry', requireNpmRegistry);
  const project = makeProject({ port: await freePort() });
  try {
    await testProject(project);
  } catch (error) {
    await showLogs(project).catch((reason) => console.log(`The logs could not be read: ${reason.message}`));
    throw error;
  } finally {
    await step('down --volumes', () => remove(project));
  }
}

async function main() {
  const startedAt = performance.now();
  let engine;
  try {
    await step('Docker engine', async () => {
      engine = await startEngine();
      return engine.isOwn ? 'started' : 'the one that runs';
    });
    await testWithEngine(engine);
  } catch (error) {
    // Before the engine ends: its failure must not hide this one.
    if (!(error instanceof SkippedError)) console.error(error);
    throw error;
  } finally {
    await engine?.stop();
  }
  console.log(`passed in ${seconds(startedAt)} s`);
}

/** All steps together, also on a busy machine. */
const limitMinutes = 30;

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}; what was started is removed`)));
setTimeout(
  () => stopping.abort(new Error(`not within ${limitMinutes} minutes`)),
  limitMinutes * 60_000,
).unref();

try {
  await main();
} catch (error) {
  if (error instanceof SkippedError && !stopping.signal.aborted) {
    console.log(`skipped: ${error.message}`);
    process.exitCode = process.env.COMPOSE_TEST_REQUIRED === 'true' ? 1 : 0;
  } else {
    console.error(stopping.signal.reason ?? error);
    process.exitCode = 1;
  }
}
