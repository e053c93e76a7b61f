import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repositoryRoot, startNats, startService, type TestNats, type TestService } from '#platform/testing';

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

let nats: TestNats;
let llm: TestService;
/** The names of every series that the llm service shows after one answer, and of metrics that have none yet. */
let names: Set<string>;

beforeAll(async () => {
  nats = await startNats();
  llm = await startService('llm', { NATS_URL: nats.url });
  const answer = await fetch(`${llm.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hello' }], max_tokens: 2 }),
  });
  if (answer.status !== 200) throw new Error(await answer.text());
  await answer.text();
  const text = await (await fetch(`${llm.url}/metrics`)).text();
  names = new Set([...text.matchAll(/^(?:# TYPE )?(\w+)[ {]/gm)].map(([, name = '']) => name));
});

afterAll(async () => {
  await llm?.stop();
  await nats?.stop();
});

/** Series that PromQL expressions name. */
function seriesOf(expressions: string): string[] {
  return [...new Set(expressions.match(/\b(?:meganest|nodejs|process)_\w+/g) ?? [])];
}

it.each([
  'deploy/prometheus/alerts.yaml',
  'deploy/grafana/meganest.json',
  'deploy/kubernetes/prometheus-adapter.yaml',
])('%s names metrics that exist', (path) => {
  const wanted = seriesOf(read(path));
  expect(wanted.length).toBeGreaterThan(1);
  expect(wanted.filter((name) => !names.has(name))).toEqual([]);
});

it('has a section of docs/operations.md for each alert', () => {
  const { groups } = parse(read('deploy/prometheus/alerts.yaml')) as {
    groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
  };
  const operations = read('docs/operations.md');
  for (const { alert, annotations } of groups.flatMap(({ rules }) => rules)) {
    expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    expect(operations).toContain(`\n### ${alert}\n`);
  }
});

it.skipIf(!hasPromtool())('passes its own tests of the alerts', () => {
  const cwd = join(repositoryRoot, 'deploy/prometheus');
  const output = execFileSync('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd, encoding: 'utf8' });
  expect(output).toContain('SUCCESS');
});
