import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codexAnswers, installCodex, startCodex, type Codex } from '../helpers/codex.js';
import { startEngineStack, type EngineStack } from '../helpers/engine-stack.js';
import { engineModel, type EngineBody, type EngineTurn } from '../helpers/scripted-engine.js';
import { recordClient } from '../../support/client-matrix.js';

recordClient({
  client: 'Codex CLI, whole sessions',
  name: '@openai/codex',
  folder: 'test/e2e/clients/codex',
});

let stack: EngineStack;
const started: Codex[] = [];

beforeAll(async () => {
  const env = { LLM_MODALITIES: 'text,image' };
  [stack] = await Promise.all([startEngineStack({ env, model: { max_model_len: 100_000 } }), installCodex()]);
});
afterEach(() => {
  stack.engine.script = undefined;
  stack.engine.asked.length = 0;
});
afterAll(async () => {
  await Promise.all(started.map((codex) => codex.remove()));
  await stack?.stop();
});

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const lines = Array.from({ length: 400 }, (_unused, index) => `line ${index + 1} of a long file`);
const addition = [
  '*** Begin Patch',
  '*** Add File: long.txt',
  ...lines.map((line) => `+${line}`),
  '*** End Patch',
];
const change = ['*** Begin Patch', '*** Update File: long.txt', `-${lines[9]}`, '+line ten', '*** End Patch'];

/** A step of the model: a tool with its input, made from the output of the step before. */
type Step = [name: string, input: (output: string) => object];

const numberIn = (output: string) => Number(/session ID (\d+)/.exec(output)?.[1]);
let agent = '';
const remember = (output: string) => {
  agent = /"agent_id":"([^"]+)"/.exec(output)?.[1] ?? '';
  return { targets: [agent], timeout_ms: 10_000 };
};
const question = {
  header: 'Color',
  id: 'color',
  question: 'Which color?',
  options: [
    { label: 'Red (Recommended)', description: 'Warm.' },
    { label: 'Blue', description: 'Cold.' },
  ],
};

/** Each tool that Codex offers, once or more. */
const steps: Step[] = [
  ['create_goal', () => ({ objective: 'Write a long file.' })],
  ['apply_patch', () => ({ input: `${addition.join('\n')}\n` })],
  ['apply_patch', () => ({ input: `${change.join('\n')}\n` })],
  ['exec_command', () => ({ cmd: 'cat', tty: true, yield_time_ms: 250 })],
  [
    'write_stdin',
    (output) => ({ session_id: numberIn(output), chars: 'typed\u0004\u0004', yield_time_ms: 1_000 }),
  ],
  ['view_image', () => ({ path: 'pixel.png' })],
  ['request_user_input', () => ({ questions: [question] })],
  ['multi_agent_v1__spawn_agent', () => ({ message: 'Say that you are the child.' })],
  ['multi_agent_v1__wait_agent', remember],
  ['multi_agent_v1__send_input', () => ({ target: agent, message: 'Say it again.' })],
  ['multi_agent_v1__wait_agent', () => ({ targets: [agent], timeout_ms: 10_000 })],
  ['multi_agent_v1__close_agent', () => ({ target: agent })],
  ['multi_agent_v1__resume_agent', () => ({ id: agent })],
  ['get_goal', () => ({})],
  ['update_goal', () => ({ status: 'complete' })],
];

/** What Codex says to them, in order. */
const whatComesOfThem: RegExp[] = [
  /"status":"active"/,
  /A long\.txt/,
  /M long\.txt/,
  /running with session ID \d+/,
  /exited with code 0[^]*typed/,
  /^\[image 1 of the tool results\]$/,
  // Without a terminal there is no user to ask.
  /unavailable/,
  /"agent_id"/,
  /I am the child/,
  /"submission_id"/,
  /I am the child/,
  /"previous_status"/,
  /"status"/,
  /"status":"active"/,
  /"status":"complete"/,
];

const outputsOf = ({ messages }: EngineBody) => messages.filter(({ role }) => role === 'tool');
const isOfChild = ({ messages }: EngineBody) =>
  JSON.stringify(messages).includes('that you are the child.') &&
  !JSON.stringify(messages).includes('Write a long file.');

const textOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));

/** Goes through the steps by the number of outputs that have come back; its children say who they are. */
function model(body: EngineBody): EngineTurn {
  if (isOfChild(body)) return { text: 'I am the child.' };
  const outputs = outputsOf(body);
  const step = steps[outputs.length];
  if (!step) return { text: 'All done.' };
  const [name, input] = step;
  const call = {
    id: `call_${outputs.length}`,
    name,
    arguments: JSON.stringify(input(textOf(outputs.at(-1)?.content))),
  };
  return { calls: [call] };
}

describe.each([
  ['server-sent events', false],
  ['a WebSocket', true],
])('a session of the Codex CLI over %s', (_name, webSockets) => {
  it('uses every tool that the CLI offers, sees, and goes on after its history was compacted', async () => {
    const codex = await startCodex({ gatewayUrl: stack.gateway.url, model: engineModel, webSockets });
    started.push(codex);
    await writeFile(join(codex.work, 'pixel.png'), png);
    stack.engine.script = model;

    const events = await codex.exec('Work.');
    expect(events.at(-1)?.type).toBe('turn.completed');
    expect(codexAnswers(events).at(-1)).toBe('All done.');

    const { asked } = stack.engine;
    const last = asked.findLast((body) => !isOfChild(body));
    const offered = new Set(asked.flatMap(({ tools = [] }) => tools.map((tool) => tool.function.name)));
    expect([...offered].toSorted()).toEqual([...new Set(steps.map(([name]) => name))].toSorted());
    const outputs = outputsOf(last!).map(({ content }) => String(content));
    expect(outputs).toHaveLength(steps.length);
    for (const [index, expected] of whatComesOfThem.entries()) expect(outputs[index]).toMatch(expected);
    expect(JSON.stringify(last?.messages)).toContain(png.toString('base64').slice(0, 40));

    const file = await readFile(join(codex.work, 'long.txt'), 'utf8');
    expect(file.split('\n')).toEqual([...lines.slice(0, 9), 'line ten', ...lines.slice(10), '']);

    let compacted: EngineBody | undefined;
    stack.engine.script = (body) => {
      if (JSON.stringify(body.messages).includes('the gist')) {
        compacted = body;
        return { text: 'I go on.' };
      }
      return { text: 'the gist' };
    };
    const more = await codex.exec('Go on.', true, ['model_auto_compact_token_limit=1']);
    expect(codexAnswers(more).at(-1)).toBe('I go on.');
    const told = JSON.stringify(compacted?.messages);
    expect(told).not.toContain('line 399');
    expect(told).toContain('Go on.');
  });
});
