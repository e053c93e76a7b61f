import { randomUUID } from 'node:crypto';
import { fileForm, type Ask, type Answer } from './client.js';

/** The small requests of a client that expects quick answers: one for each service. */
const probes: Readonly<Record<string, (ask: Ask) => Promise<Answer>>> = {
  files: (ask) => ask('GET', '/v1/files?limit=1'),
  embedding: (ask) => ask('POST', '/v1/embeddings', { input: `a question ${randomUUID()}` }),
  reranking: (ask) => ask('POST', '/v1/rerank', { query: 'a dam', documents: ['a wall', 'a lake'] }),
  retrieval: (ask) => ask('POST', '/v1/retrievaltool', { messages: 'What is a dam?' }),
  chat: (ask) =>
    ask('POST', '/v1/chat/completions', { model: 'nano-chat', messages: 'Say hi.', max_tokens: 8 }),
  schema: (ask) => {
    const schema = { type: 'object', properties: { [`k${randomUUID().slice(0, 8)}`]: { type: 'integer' } } };
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
    const messages = 'Say hi.';
    return ask('POST', '/v1/chat/completions', {
      model: 'nano-chat',
      messages,
      max_tokens: 8,
      response_format,
    });
  },
  ingest: (ask) =>
    ask('POST', '/v1/dataprep/ingest', fileForm('a.md', `# Dam\n\n${randomUUID()}`, { collection: 'alice' })),
  speech: (ask) => ask('POST', '/v1/audio/speech', { input: 'Hi there.', response_format: 'wav' }),
};

/** The latencies of alice's requests, in milliseconds, and her answers that are not a 200. */
export interface Experience {
  latencies: Record<string, number[]>;
  failures: string[];
}

/** Asks small things of every service in parallel until the signal aborts; each is asked once at least. */
export async function askUntil(ask: Ask, over: AbortSignal): Promise<Experience> {
  const experience: Experience = { latencies: {}, failures: [] };
  const loops = Object.entries(probes).map(async ([name, probe]) => {
    const latencies: number[] = (experience.latencies[name] = []);
    do {
      const { status, text, milliseconds } = await probe(ask);
      latencies.push(milliseconds);
      if (status !== 200) experience.failures.push(`${name}: ${status} ${text.slice(0, 200)}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    } while (!over.aborted);
  });
  await Promise.all(loops);
  return experience;
}

/** The value below which 95 of 100 are. */
export function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0;
}
