import type { NodeContext } from '#platform/dag';
import type { RpcClient, ServiceDirectory } from '#platform/messaging';
import { describe, expect, it } from 'vitest';
import { AnnouncedServices } from './announced-services.js';

const passage = { id: 'a', text: 'Ada built it.', score: 1 };

/** Calls an announced service that answers with one output. */
async function outputOf(kind: string, output: unknown): Promise<unknown> {
  const announcement = JSON.stringify({ output: kind });
  const instances = [{ service: 'shouter', subjects: [], metadata: { 'meganest.node': announcement } }];
  async function* replies() {
    await Promise.resolve();
    yield { output };
  }
  const services = new AnnouncedServices(
    { list: () => Promise.resolve(instances) } as unknown as ServiceDirectory,
    { stream: replies } as unknown as RpcClient,
  );
  await services.look();
  const context = {
    service: 'shouter',
    inputs: {},
    parameters: {},
    request: { query: 'Who?', messages: [] },
  };
  return await services.call(context as unknown as NodeContext, {});
}

describe('the output of an announced service', () => {
  it.each([
    ['documents', [passage], [{ ...passage, metadata: {} }]],
    ['text', 'words', 'words'],
    ['boats', { any: 'thing' }, { any: 'thing' }],
  ])('of the kind %s is passed on', async (kind, output, expected) => {
    expect(await outputOf(kind, output)).toEqual(expected);
  });

  it.each([
    ['documents', 'a text'],
    ['documents', [{ text: 'without id and score' }]],
    ['embedding', [0.1, 0.2]],
    ['text', { text: 'an object' }],
    ['answer', 7],
  ])('of the kind %s in another form is an error of the service that sent it', async (kind, output) => {
    await expect(outputOf(kind, output)).rejects.toMatchObject({
      code: 'bad_upstream',
      service: 'shouter',
      message: expect.stringContaining(
        `The shouter service answered something unexpected: an output of the kind "${kind}"`,
      ) as string,
    });
  });
});
