/** Steps of `npm run test:compose`: what a user does first. Each resolves with a detail for its line. */
import assert from 'node:assert/strict';
import { poll } from './client.mjs';
import { run } from './docker.mjs';

const maxImageMegabytes = 400;
const question = 'What happens when a service dies?';

/** Compose reads each combination of files, without settings and with the unchanged example. */
export async function checkFiles({ compose }) {
  for (const files of [[], ['deploy/compose.gpu.yml'], ['deploy/compose.proxy.yml']])
    for (const settings of ['/dev/null', '.env.example'])
      await compose(['--env-file', settings, 'config', '--quiet'], { files });
}

const danglingImages = async () =>
  (await run('docker', ['images', '--quiet', '--filter', 'dangling=true'])).split('\n').filter(Boolean)
    .length;

export async function buildImage({ compose, image }) {
  const before = await danglingImages();
  await compose(['build'], { timeoutMs: 600_000 });
  assert.ok((await danglingImages()) <= before + 1, 'the build exports more than one image');
  const size = await run('docker', ['image', 'inspect', '--format', '{{.Size}}', image]);
  const megabytes = Math.round(Number(size) / 1e6);
  assert.ok(megabytes <= maxImageMegabytes, `the image has ${megabytes} MB, more than ${maxImageMegabytes}`);
  return `${megabytes} MB`;
}

/** Errors: a container that is not healthy. */
export async function requireHealthy(containers) {
  const all = await containers();
  const wrong = all.filter(({ service, state, health, exitCode }) =>
    service === 'secrets' ? state !== 'exited' || exitCode !== 0 : health !== 'healthy',
  );
  assert.deepEqual(
    wrong.map(({ name, state, health }) => `${name}: ${state}, ${health}`),
    [],
  );
  return all;
}

export async function checkStack({ compose, containers }) {
  await compose(['up', '--detach', '--wait']);
  const all = await requireHealthy(containers);
  const running = all.filter(({ service }) => service !== 'secrets');
  for (const { id, service } of running) {
    const user = (await run('docker', ['exec', id, 'id', '-u'])).trim();
    assert.notEqual(user, '0', `${service} runs as root`);
    if (service !== 'postgres')
      await run('docker', ['exec', id, 'sh', '-c', 'echo a >/data/written && rm /data/written']);
  }
  return `${running.length} containers, none as root`;
}

/** Errors: an answer without a citation, or a refusal. */
function requireCitation({ content, annotations = [] }, expected) {
  assert.ok(annotations.length > 0 && expected.test(content), `not a cited answer: ${content}`);
}

export async function answerFromSamples({ client }) {
  await poll('the sample documents', async () => {
    const message = await client.ask(question);
    requireCitation(message, /restart/);
    return message;
  });
}

export async function citeDocument({ client }) {
  await client.ingest('engine.txt', 'The Quibblewick engine runs on fermented plum juice.');
  await requireDocument(client);
}

/** Errors: the document of {@link citeDocument} is not cited. */
export async function requireDocument(client) {
  requireCitation(await client.ask('What does the Quibblewick engine run on?'), /plum juice/);
}

export async function hearAndSpeak({ client }) {
  const audio = await client.speak('Good morning. The weather is fine today.');
  assert.equal(audio.subarray(0, 4).toString('latin1'), 'RIFF');
  const text = await client.transcribe(audio);
  assert.match(text, /[a-z]{2,}/i);
  return `"${text.trim()}"`;
}
