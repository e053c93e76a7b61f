import { expect, it } from 'vitest';
import { startApp } from '../support/app.js';

const app = startApp();

it('shows load and latencies as charts, the engine, the models and what the doctor says', async () => {
  const chat = { messages: 'When does the office open?' };
  const answer = await fetch(`${app.url}/v1/chatqna`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...chat, stream: false }),
  });
  expect(answer.status).toBe(200);
  const { page, problems } = await app.open('/#/system');
  const load = page.getByRole('region', { name: 'Load of the last ten minutes' });
  for (const name of ['Requests per minute', 'Latency of an operation'])
    await load.getByRole('img', { name }).locator('canvas').waitFor();
  // The legend shows the numbers at the pointer: the last step of the chart is now.
  const box = await load.getByRole('img', { name: 'Requests per minute' }).locator('.u-over').boundingBox();
  if (!box) throw new Error('The chart has no size');
  const requests = load.locator('.u-series', { hasText: 'Requests' });
  await expect
    .poll(async () => {
      await page.mouse.move(box.x + box.width - 1 - (Date.now() % 20), box.y + 40);
      return Number.parseFloat((await requests.locator('.u-value').textContent()) ?? '');
    })
    .toBeGreaterThan(0);
  const engine = page.getByRole('region', { name: 'Engine of the language model' });
  await engine.getByRole('columnheader', { name: 'Prefix cache' }).waitFor();
  const models = page.getByRole('region', { name: 'Models' });
  expect(await models.getByRole('row', { name: /nano-chat/ }).textContent()).toMatch(/llm.*onnx.*2,048/);
  const latencies = page.getByRole('region', { name: 'Latencies of the last ten minutes' });
  expect(await latencies.getByRole('row', { name: /^chatqna/ }).textContent()).toMatch(/\d ms.*\d ms.*\d ms/);
  const instances = page.getByRole('region', { name: 'Instances' });
  for (const service of ['dataprep', 'embedding', 'llm', 'reranking', 'retrieval'])
    await instances.getByRole('cell', { name: service, exact: true }).waitFor();
  const health = page.getByRole('region', { name: 'Health' });
  expect(await health.getByRole('row', { name: /postgres/ }).textContent()).toContain('Healthy');
  const doctor = page.getByRole('region', { name: 'The doctor’s findings' });
  await doctor.getByRole('row', { name: /OK node v?\d+/ }).waitFor();
  await doctor.getByText('→').first().waitFor();
  await doctor.getByRole('button', { name: 'Look again' }).click();
  const [docs] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('main').getByRole('link', { name: 'API reference' }).click(),
  ]);
  await docs.locator('.opblock').first().waitFor();
  expect(problems).toEqual([]);
});

it('shows a pipeline as a graph and a waterfall that grows while a request runs', async () => {
  const { page, problems } = await app.open('/#/pipelines', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const graph = page.getByRole('group', { name: 'Graph of the mega service' });
  await graph.getByText('reranking').waitFor();
  expect(await graph.locator('.graph-node').count()).toBe(4);
  const retrieval = app.stack.service('retrieval').process;
  retrieval.signal('SIGSTOP');
  const runs = page.getByRole('region', { name: 'Last runs' });
  const answer = fetch(`${app.url}/v1/chatqna`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: 'When does the office open?', stream: false }),
  });
  try {
    await runs.getByText('Running').waitFor();
    await graph.locator('.graph-node.running', { hasText: 'retrieval' }).waitFor();
    const time = runs.getByRole('row', { name: /^retrieval/ }).locator('.waterfall-time');
    const milliseconds = async () =>
      Number.parseFloat(((await time.textContent()) ?? '').replaceAll(',', ''));
    const first = await milliseconds();
    await expect.poll(milliseconds).toBeGreaterThan(first);
  } finally {
    retrieval.signal('SIGCONT');
  }
  await (await answer).text();
  await runs.getByText('OK', { exact: true }).waitFor();
  await graph.locator('.graph-node.ok', { hasText: 'llm' }).getByText(/\d ms/).waitFor();
  await page.getByRole('button', { name: 'Copy the request' }).click();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  const { url = '', body = '' } = /^curl (?<url>\S+) .*-d '(?<body>.*)'$/.exec(copied)?.groups ?? {};
  const pasted = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(pasted.status).toBe(200);
  await pasted.text();
  const yaml = page.getByRole('textbox', { name: 'Definition' });
  const source = await yaml.inputValue();
  await yaml.fill(source.replace('service: retrieval', 'service: retreival'));
  await page
    .getByRole('region', { name: 'Definition' })
    .getByText(/retreival/)
    .last()
    .waitFor();
  await yaml.fill(`${source}\n# The same, with a remark.\n`);
  await page.getByText('This definition is valid.').waitFor();
  expect(problems).toEqual([]);
});
