import type { MegaServiceDefinition } from '#platform/dag';
import { expect, it } from 'vitest';
import { assertSearchable, searches, takesConversations } from './definition-checks.js';

const definition = (...services: string[]) =>
  ({
    nodes: new Map(services.map((service) => [service, { target: { service } }])),
  }) as unknown as MegaServiceDefinition;
const ask = (content: string, ...services: string[]) =>
  assertSearchable(definition(...services), [{ role: 'user', content }]);

it.each(['', '   \n', '?', 'a', 'a ?', '…'])(
  'refuses %j where documents are searched with it',
  (question) => {
    expect(() => ask(question, 'retrieval', 'llm')).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'messages' }),
    );
    expect(() => ask(question, 'llm')).not.toThrow();
  },
);

it('takes a file without a question, which is summarized', () => {
  const files = [{ filename: 'a', at: 0, length: 4 }];
  const messages = [{ role: 'user' as const, content: 'a:\nb', files }];
  expect(() => assertSearchable(definition('retrieval', 'llm'), messages)).not.toThrow();
});

it.each(['Go', 'C3 po?', '税', '42', 'Что'])('takes %j', (question) => {
  expect(() => ask(question, 'retrieval')).not.toThrow();
});

it('sees a search of a mega service inside a mega service', () => {
  const outer = (megaService: MegaServiceDefinition) =>
    ({
      nodes: new Map([['inner', { target: { service: 'inner', megaService } }]]),
    }) as unknown as MegaServiceDefinition;
  expect(searches(outer(definition('retrieval', 'llm')))).toBe(true);
  expect(searches(outer(definition('llm')))).toBe(false);
});

it('tells conversations from texts about a text', () => {
  const withOutput = (target: object) =>
    ({ nodes: new Map([['last', { target }]]), output: 'last' }) as unknown as MegaServiceDefinition;
  const summary = withOutput({ service: 'llm.summarize' });
  expect(takesConversations(summary)).toBe(false);
  expect(takesConversations(withOutput({ service: 'docsum', megaService: summary }))).toBe(false);
  expect(takesConversations(withOutput({ service: 'llm' }))).toBe(true);
  expect(takesConversations(withOutput({ service: 'my-own' }))).toBe(true);
});
