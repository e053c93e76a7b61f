import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { healthMethod, judge } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { startService, type TestService } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceWithClient, type ServiceWithClient } from '../../support/service-with-client.js';
import { writeWordClassifier } from '../../support/classifier-model.js';

const rule = {
  id: 'secrets',
  description: 'secrets',
  action: 'redact',
  patterns: ['secret\\d+'],
  replacement: 'scoundrel',
};
const weapons = {
  id: 'weapons',
  description: 'weapons',
  label: 'danger',
  threshold: 0.9,
  action: 'block',
  message: 'No weapons.',
};
const insults = {
  id: 'insults',
  description: 'insults',
  label: 'insult',
  action: 'flag',
  applies_to: ['input'],
};

describe('the guardrail service with a classifier', () => {
  let running: ServiceWithClient;
  let service: TestService;
  let client: RpcClient;
  let folder: string;
  let rules: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meganest-guardrail-'));
    rules = join(folder, 'rules.yaml');
    const model = join(folder, 'words');
    await writeFile(rules, JSON.stringify({ rules: [rule], labels: [weapons, insults] }));
    await writeWordClassifier(model, { bomb: 'danger', scoundrel: 'insult' });
    running = await startServiceWithClient('guardrail', {
      GUARDRAIL_RULES: rules,
      GUARDRAIL_MODEL_ID: model,
      MEGANEST_DATA_DIR: folder,
    });
    ({ service, client } = running);
  });
  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function post(body: unknown) {
    const response = await fetch(`${service.url}/v1/guardrails`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  it('blocks what the model is sure of, and names label and score', async () => {
    const { body } = await post({ text: 'how does one build a bomb today' });
    expect(body).toMatchObject({
      action: 'block',
      message: 'No weapons.',
      text: 'Violated policies: weapons, please check your input.',
      downstream_black_list: ['.*'],
      findings: [
        { rule: 'weapons', action: 'block', label: 'danger', score: expect.closeTo(1, 1) as number },
      ],
      model: expect.stringMatching(/^words@[0-9a-f]{12}$/) as string,
    });
    const harmless = 'how does one bake a cake today';
    expect((await post({ text: harmless })).body).toMatchObject({
      action: 'pass',
      text: harmless,
      findings: [],
    });
  });

  it('asks the model about what the rules have left, of the sides that labels speak of', async () => {
    const text = 'you are secret42';
    const said = await client.request(judge, { texts: [text, '', 'hello'], side: 'input' });
    expect(said.judgements.map(({ action, text: left }) => ({ action, left }))).toEqual([
      { action: 'redact', left: 'you are scoundrel' },
      { action: 'pass', left: '' },
      { action: 'pass', left: 'hello' },
    ]);
    expect(said.judgements[0]?.findings).toMatchObject([
      { rule: 'secrets' },
      { rule: 'insults', action: 'flag', label: 'insult' },
    ]);
    const answered = await client.request(judge, { texts: [text], side: 'output' });
    expect(answered.judgements[0]?.findings).toMatchObject([{ rule: 'secrets' }]);
  });

  it('reads a text much longer than the model takes to its end', async () => {
    const filler = 'and then we talked about the weather of the day '.repeat(400);
    const reply = await client.request(judge, { texts: [filler, `${filler} bomb`], side: 'input' });
    expect(reply.judgements.map(({ action }) => action)).toEqual(['pass', 'block']);
  });

  it('says how its model is, and keeps its rules where the file names a label that the model lacks', async () => {
    const health = () => client.request(healthMethod('guardrail'), {});
    expect(await health()).toMatchObject({
      healthy: true,
      dependencies: [{ name: 'rules' }, { name: 'model', detail: 'words' }],
    });
    await writeFile(rules, JSON.stringify({ rules: [rule], labels: [{ ...weapons, label: 'peril' }] }));
    await expect
      .poll(async () => JSON.stringify(await health()), { timeout: 20_000 })
      .toContain('words has danger, insult');
    expect((await post({ text: 'a bomb' })).body).toMatchObject({ action: 'block' });
    await writeFile(rules, JSON.stringify({ labels: [{ ...weapons, message: 'None.' }] }));
    await expect
      .poll(async () => (await post({ text: 'a bomb' })).body, { timeout: 20_000 })
      .toMatchObject({ message: 'None.' });
  });

  it('does not start where labels and model do not fit', async () => {
    const env = { NATS_URL: running.natsUrl, GUARDRAIL_RULES: rules };
    await expect(startService('guardrail', env)).rejects.toThrow(/GUARDRAIL_MODEL_ID/);
  });
});
