import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codexAnswers, installCodex, startCodex, type Codex, type CodexSettings } from '../helpers/codex.js';
import { scriptedModel } from '../helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from '../helpers/scripted-stack.js';
import { recordClient } from '../../support/client-matrix.js';

recordClient({ client: 'Codex CLI', name: '@openai/codex', folder: 'test/e2e/clients/codex' });

let stack: ScriptedStack;
const started: Codex[] = [];

beforeAll(async () => {
  [stack] = await Promise.all([startScriptedStack(), installCodex()]);
  // Its own instructions and tools come to some thousand words.
  stack.witness.contextWindow = 100_000;
});
afterAll(async () => {
  await Promise.all(started.map((codex) => codex.remove()));
  await stack?.stop();
});

async function newCodex(settings: Partial<CodexSettings> = {}): Promise<Codex> {
  const codex = await startCodex({ gatewayUrl: stack.gateway.url, model: scriptedModel, ...settings });
  started.push(codex);
  return codex;
}

describe('the Codex CLI', () => {
  it('answers, and counts tokens', async () => {
    const events = await (await newCodex()).exec('count 3');
    expect(codexAnswers(events)).toEqual(['1 2 3 ']);
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', usage: { output_tokens: 3 } });
  });

  it('goes on with a conversation', async () => {
    const codex = await newCodex();
    await codex.exec('count 2');
    const [recalled = ''] = codexAnswers(await codex.exec('recall', true));
    const turns = JSON.parse(recalled) as string[];
    expect(turns.slice(-3)).toEqual(['user: count 2', 'assistant: 1 2 ', 'user: recall']);
  });

  it.each([
    ['server-sent events', false],
    ['a WebSocket', true],
  ])('runs a command in the shell and sends back what it printed, over %s', async (_name, webSockets) => {
    const codex = await newCodex({ webSockets });
    const events = await codex.exec('use exec_command {"cmd":"echo from-the-shell"}');
    const ran = events.find(
      (event) => event.type === 'item.completed' && event.item?.type === 'command_execution',
    );
    expect(ran?.item).toMatchObject({ aggregated_output: 'from-the-shell\n', exit_code: 0 });
    expect(codexAnswers(events).join('')).toContain('from-the-shell');
    expect(events.at(-1)?.type).toBe('turn.completed');
  });

  it('compacts a long conversation', async () => {
    const codex = await newCodex({ compactAbove: 1 });
    await codex.exec('count 2');
    const events = await codex.exec('count 3', true);
    expect(events.at(-1)?.type).toBe('turn.completed');
    expect(codexAnswers(events)).toEqual(['1 2 3 ']);
  });
});
