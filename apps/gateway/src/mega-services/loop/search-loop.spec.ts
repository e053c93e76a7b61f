import { encodeVectors, type RetrievedDocument } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import type { NodeCall } from '../mega-service-request.js';
import type { SearchPlan } from '../search/search-plan.js';
import { callLoop } from './search-loop.js';

const passage = (id: string, text: string, score = 0.5): RetrievedDocument => ({
  id,
  text,
  score,
  metadata: {},
});
const question = 'When was the engineer of the Marlow bridge born?';
const bridge = passage('bridge', 'The engineer of the Marlow bridge was Elsa Quint.', 1);
const quint = passage('quint', 'Elsa Quint was raised above Tarrow, where Ida Holm taught her.', 9);
const others = ['b', 'c', 'd'].map((id) => passage(id, `Some text ${id}.`));

interface Setting {
  documents?: RetrievedDocument[];
  found?: Record<string, RetrievedDocument[]>;
  parameters?: Record<string, unknown>;
  plan?: { [Key in keyof SearchPlan]?: SearchPlan[Key] | undefined };
}

async function run({ documents = [bridge, ...others], found = {}, parameters = {}, plan }: Setting) {
  const requests: { method: string; request: Record<string, unknown> }[] = [];
  const details: Record<string, unknown> = {};
  const made = {
    searches: true,
    question: Promise.resolve(question),
    retrieval: { k: 20, collection: 'towns', filter: { year: 1 } },
    embedding: { truncate: true },
    ...plan,
  } as SearchPlan;
  const call = {
    client: {
      request: ({ method }: { method: string }, request: Record<string, unknown>) => {
        requests.push({ method, request });
        if (method !== 'embed')
          return Promise.resolve({ documents: found[String(request['query'])] ?? [], searchType: 'hybrid' });
        const vectors = (request['inputs'] as string[]).map(() => Float32Array.of(1, 0));
        return Promise.resolve({
          vectors: encodeVectors(vectors),
          dimensions: 2,
          model: 'm',
          promptTokens: 1,
        });
      },
    },
    context: {
      inputs: { documents },
      parameters,
      report: (more: object) => void Object.assign(details, more),
    },
    options: {},
    plan: () => made,
  } as unknown as NodeCall;
  const result = await callLoop(call);
  return { ids: result.map(({ id }) => id), result, requests, details };
}

describe('callLoop', () => {
  it('replaces the last passages by those about a name of the first one, in the scope of the first search', async () => {
    const { ids, result, requests, details } = await run({
      found: { 'Elsa Quint born': [others[0]!, quint] },
    });
    expect(ids).toEqual(['bridge', 'b', 'c', 'quint']);
    expect(result.at(-1)!.score).toBe(0.5);
    expect(requests.map(({ request }) => request)).toMatchObject([
      { truncate: true, inputs: ['Elsa Quint born'] },
      { query: 'Elsa Quint born', k: 8, collection: 'towns', filter: { year: 1 } },
    ]);
    expect(details).toMatchObject({
      loop: { rounds: 1, stopped: 'budget' },
      searched: [{ query: 'Elsa Quint born', by: 'names' }],
    });
  });

  it('keeps passages about the name that the first search found', async () => {
    const known = passage('known', 'Elsa Quint kept bees.');
    const documents = [bridge, others[0]!, others[1]!, known];
    const { ids } = await run({ documents, found: { 'Elsa Quint born': [known, quint] } });
    expect(ids).toEqual(['bridge', 'b', 'known', 'quint']);
  });

  it('goes on with the names of what it found, as often as max_rounds allows', async () => {
    const holm = passage('holm', 'Ida Holm was born in 1840.');
    const found = { 'Elsa Quint born': [quint], 'Tarrow born': [], 'Ida Holm born': [holm] };
    const { ids, details } = await run({ found, parameters: { max_rounds: 3 } });
    expect(ids).toEqual(['bridge', 'b', 'quint', 'holm']);
    expect(details['loop']).toEqual({ rounds: 2, stopped: 'supported' });
  });

  it('searches by words without an embedding service', async () => {
    const { requests } = await run({ plan: { embedding: undefined } });
    expect(requests).toMatchObject([{ method: 'retrieve', request: { search_type: 'lexical' } }]);
  });

  it('does not search again without need', async () => {
    const supported = passage('s', 'The engineer of the Marlow bridge was born in May.');
    for (const setting of [
      { documents: [supported, ...others] },
      { documents: [bridge] },
      { parameters: { max_rounds: 0 } },
      { plan: { searches: false } },
      { plan: { whole: { kind: 'summary', passages: [], cut: [] } } as never },
    ]) {
      const { requests, ids } = await run(setting);
      expect(requests).toEqual([]);
      expect(ids).toEqual((setting.documents ?? [bridge, ...others]).map(({ id }) => id));
    }
  });

  it('says why it stopped', async () => {
    expect((await run({})).details['loop']).toEqual({ rounds: 1, stopped: 'nothing_new' });
    const nameless = [passage('n', question.toLowerCase().replace('born', '')), ...others];
    expect((await run({ documents: nameless })).details['loop']).toMatchObject({ stopped: 'no_links' });
  });
});
