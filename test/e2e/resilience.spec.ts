import { createTemporaryDirectory } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LauncherProcess } from '../support/launcher-process.js';
import { postJson } from './helpers/http.js';
import { ingestText } from './helpers/ingest.js';

const question = 'What does the Quibblewick engine run on?';
const concurrency = 8;
/** The services' deadline for one request, and what a client waits on top of it. */
const deadlineMs = 20_000;
const graceMs = 2_000;

interface Outcome {
  status: number;
  text: string;
  milliseconds: number;
}

let directory: { path: string; remove(): Promise<void> };
let launcher: LauncherProcess;

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  launcher = new LauncherProcess(directory.path, { REQUEST_TIMEOUT_MS: String(deadlineMs) });
  await launcher.ready();
  await ingestText(
    launcher.urlOf('gateway'),
    'engine.txt',
    'The Quibblewick engine runs on fermented plum juice.',
  );
});
afterAll(async () => {
  await launcher?.stop();
  await directory?.remove();
});

/** One chat; status 0 is a connection that broke, as it does when the gateway itself is killed. */
async function ask(): Promise<Outcome> {
  const startedAt = performance.now();
  const settle = (status: number, text: string) => ({
    status,
    text,
    milliseconds: performance.now() - startedAt,
  });
  try {
    const { status, body } = await postJson(`${launcher.urlOf('gateway')}/v1/chat/completions`, {
      messages: question,
    });
    return settle(status, JSON.stringify(body));
  } catch (error) {
    return settle(0, String(error));
  }
}

/** Keeps eight chats running until told to stop. */
function startLoad(): { stop(): Promise<Outcome[]> } {
  const outcomes: Outcome[] = [];
  const stopped = new AbortController();
  const worker = async () => {
    while (!stopped.signal.aborted) outcomes.push(await ask());
  };
  const workers = Array.from({ length: concurrency }, worker);
  return {
    stop: async () => {
      stopped.abort();
      await Promise.all(workers);
      return outcomes;
    },
  };
}

async function killAndAwaitReturn(name: string): Promise<void> {
  const victim = launcher.children().find((child) => child.name === name);
  if (!victim) throw new Error(`${name} is not running`);
  const seen = launcher.lines.length;
  process.kill(victim.pid, 'SIGKILL');
  await launcher.line(new RegExp(`^${name} +ready`), seen);
}

describe.sequential('a service killed under load', () => {
  it.each(['embedding', 'retrieval', 'reranking', 'llm', 'dataprep', 'gateway'])(
    '%s comes back, and no request hangs or fails without saying why',
    async (name) => {
      const load = startLoad();
      await killAndAwaitReturn(name);
      const outcomes = await load.stop();
      const failed = outcomes.filter(({ status }) => status !== 200);
      // A killed gateway breaks its connections; every other failure is a 503 that names the service.
      const isExplained = ({ status, text }: Outcome) =>
        (status === 503 && text.includes(name)) || (status === 0 && name === 'gateway');
      expect(failed.filter((outcome) => !isExplained(outcome))).toEqual([]);
      expect(Math.max(...outcomes.map(({ milliseconds }) => milliseconds))).toBeLessThan(
        deadlineMs + graceMs,
      );
      expect(await ask()).toMatchObject({
        status: 200,
        text: expect.stringContaining('fermented plum juice'),
      });
    },
  );

  it('and the documents are still there after a restart of everything', async () => {
    await launcher.stop();
    launcher = new LauncherProcess(directory.path);
    await launcher.ready();
    expect(await ask()).toMatchObject({ status: 200, text: expect.stringContaining('fermented plum juice') });
  });
});
