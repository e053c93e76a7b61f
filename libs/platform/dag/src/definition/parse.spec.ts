import { describe, expect, it } from 'vitest';
import { define, parse } from '../dag.fixture.js';
import { readMegaServiceSource } from './parse.js';
import { MegaServiceDefinitionError } from './source.js';

function problemsOf(yaml: string): string[] {
  try {
    parse(yaml, 'broken.yaml');
  } catch (error) {
    if (error instanceof MegaServiceDefinitionError) return error.message.split('\n');
    throw error;
  }
  return [];
}

const nodes = (...lines: string[]) => `nodes:\n${lines.map((line) => `  ${line}`).join('\n')}`;

describe('parseMegaService', () => {
  it.each([
    ['an alias without an anchor', '*x', 'broken.yaml: Unresolved alias'],
    [
      'more aliases than a file needs',
      `a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [${'*a, '.repeat(10)}]\nc: &c [${'*b, '.repeat(10)}]\nd: [${'*c, '.repeat(10)}]`,
      'broken.yaml: Excessive alias count',
    ],
  ])('names the file with %s', (_, yaml, problem) => {
    expect(() => readMegaServiceSource(yaml, 'broken.yaml')).toThrow(MegaServiceDefinitionError);
    expect(() => readMegaServiceSource(yaml, 'broken.yaml')).toThrow(problem);
  });

  it('resolves services, defaults, order, followers and the output', () => {
    const definition = define(
      'llm: { service: llm, after: [reranking], stream: true }',
      'reranking: { service: reranking, after: [retrieval], params: { top_n: 3 }, optional: true, timeoutMs: 2000 }',
      'retrieval: { service: retrieval, retry: { attempts: 3 } }',
    );
    expect([...definition.nodes.keys()]).toEqual(['retrieval', 'reranking', 'llm']);
    expect(definition.output).toBe('llm');
    expect(definition.nodes.get('retrieval')).toMatchObject({
      followers: ['reranking'],
      retry: { attempts: 3, backoffMs: 100 },
      optional: false,
    });
    expect(definition.nodes.get('reranking')?.target).toMatchObject({
      service: 'reranking',
      inputs: { documents: 'retrieval' },
      params: { top_n: 3 },
    });
    expect(definition.nodes.get('llm')).toMatchObject({
      stream: true,
      target: { inputs: { documents: 'reranking' } },
    });
  });

  it('takes a port from the nearest ancestor where no direct predecessor fits', () => {
    const definition = define(
      'retrieval: { service: retrieval }',
      'check: { service: step, after: [retrieval] }',
      'llm: { service: llm, after: [check] }',
    );
    expect(definition.nodes.get('llm')?.target.inputs).toEqual({ documents: 'retrieval' });
  });

  it('joins named inputs, and what they name comes first without being repeated in after', () => {
    const definition = define(
      'near: { service: retrieval }',
      'far: { service: retrieval }',
      'fusion: { service: fusion, inputs: { first: near, second: far } }',
    );
    expect(definition.nodes.get('fusion')).toMatchObject({
      after: ['near', 'far'],
      target: { inputs: { first: 'near', second: 'far' } },
    });
  });

  it.each([
    [
      'an unknown service',
      nodes('a: { service: oracle }'),
      'node "a": service: unknown service "oracle" (there are: embedding,',
    ],
    [
      'a cycle',
      nodes(
        'a: { service: step, after: [c] }',
        'b: { service: step, after: [a] }',
        'c: { service: step, after: [b] }',
      ),
      'node "a": after: cycle: a → b → c → a',
    ],
    ['a node after itself', nodes('a: { service: step, after: [a] }'), 'node "a": after: cycle: a → a'],
    [
      'an unknown predecessor',
      nodes('a: { service: step, after: [b] }'),
      'node "a": after: there is no node "b"',
    ],
    [
      'a value out of range',
      nodes('a: { service: retrieval, params: { k: 500 } }'),
      'node "a": params.k: Too big: expected number to be <=200',
    ],
    [
      'an unlisted parameter',
      nodes('a: { service: retrieval, params: { kk: 5 } }'),
      'node "a": params.kk: "retrieval" has no such parameter (it has: k, search_type)',
    ],
    [
      'a parameter named like a property of every object',
      nodes('a: { service: retrieval, params: { constructor: 5 } }'),
      'node "a": params.constructor: "retrieval" has no such parameter',
    ],
    [
      'two nodes that fit one port',
      nodes('a: { service: retrieval }', 'b: { service: retrieval }', 'llm: { service: llm, after: [a, b] }'),
      'node "llm": inputs.documents: "a" and "b" both give documents; say which one with inputs: { documents: … }',
    ],
    [
      'two nearest ancestors that fit one port',
      nodes(
        'a: { service: retrieval }',
        'b: { service: retrieval }',
        's: { service: step, after: [a, b] }',
        'llm: { service: llm, after: [s] }',
      ),
      'node "llm": inputs.documents: "a" and "b" both give documents',
    ],
    [
      'a missing input',
      nodes('a: { service: step }', 'r: { service: reranking, after: [a] }'),
      'node "r": inputs.documents: no node before it gives documents',
    ],
    [
      'an input of another kind',
      nodes('a: { service: step }', 'r: { service: reranking, inputs: { documents: a } }'),
      'node "r": inputs.documents: takes documents, but "a" gives text',
    ],
    [
      'an unknown port',
      nodes('a: { service: step }', 'r: { service: llm, inputs: { docs: a } }'),
      'node "r": inputs.docs: "llm" has no such input (it has: documents)',
    ],
    [
      'a text that no guard sees',
      nodes(
        'judge: { service: judge }',
        's: { service: step, after: [judge] }',
        'llm: { service: llm, after: [s], params: { suffix: "." } }',
      ),
      'node "llm": locked: "judge" does not judge the parameter suffix; add locked: [suffix]',
    ],
    [
      'two streaming nodes',
      nodes('a: { service: llm, stream: true }', 'b: { service: llm, after: [a], stream: true }'),
      'node "a": stream: two streaming nodes, "a" and "b": only one stream reaches the client',
    ],
    [
      'an unread stream',
      nodes('a: { service: llm, stream: true }', 'b: { service: step, after: [a] }'),
      'node "a": stream: only the output node "b" can stream to the client, and this stream is not read by another node',
    ],
    [
      'a stream with two readers',
      nodes(
        'a: { service: llm, stream: true }',
        'b: { service: sentence-guard, after: [a] }',
        'c: { service: sentence-guard, after: [a], inputs: { sentences: a } }',
      ) + '\noutput: c',
      'node "a": stream: "b" and "c" both read this stream; a stream has one reader',
    ],
    [
      'a reader of a stream whose source does not stream',
      nodes('a: { service: llm }', 'b: { service: sentence-guard, after: [a] }'),
      'node "b": inputs.sentences: takes a stream; give "a" stream: true',
    ],
    [
      'a service that cannot stream',
      nodes('a: { service: step, stream: true }'),
      'node "a": stream: "step" cannot stream',
    ],
    ['an unknown key of a node', nodes('a: { service: step, afer: [b] }'), 'node "a": afer: unknown key'],
    [
      'an unknown key deep in a node',
      nodes('a: { service: step, retry: { attempts: 2, wait: 3 } }'),
      'node "a": retry.wait: unknown key',
    ],
    ['an unknown key of the file', `${nodes('a: { service: step }')}\nversion: 2`, 'version: unknown key'],
    [
      'a value of the wrong type',
      nodes('a: { service: step, timeoutMs: soon }'),
      'node "a": timeoutMs: Invalid input',
    ],
    [
      'a time that no timer can wait',
      nodes('a: { service: step, timeoutMs: 2147483648 }'),
      'node "a": timeoutMs: Too big',
    ],
    ['no nodes', 'nodes: {}', 'nodes: a mega service has at least one node'],
    [
      'a name that cannot be one',
      nodes('"a b": { service: step }'),
      'node "a b": a node name is letters, digits',
    ],
    [
      'two last nodes',
      nodes('a: { service: step }', 'b: { service: step }'),
      'output: "a" and "b" all come last; name the one that answers',
    ],
    ['an unknown output', `${nodes('a: { service: step }')}\noutput: b`, 'output: there is no node "b"'],
    [
      'an optional node that others cannot do without',
      nodes('a: { service: retrieval, optional: true }', 'r: { service: reranking, after: [a] }'),
      'node "a": optional: "r" needs its output at "documents", and "retrieval" does not have an input that can replace its output',
    ],
    [
      'an optional output node',
      nodes('a: { service: llm, optional: true }'),
      'node "a": optional: the output node cannot be optional',
    ],
    [
      'a condition with a syntax error',
      nodes('a: { service: step, when: "1 +" }'),
      'node "a": when: Unexpected token: EOF',
    ],
    [
      'a condition of another type',
      nodes('a: { service: step, when: "1 + 1" }'),
      'node "a": when: the expression returns a value of type int, not a boolean',
    ],
    [
      'a condition on an unknown variable',
      nodes('a: { service: step, when: "x == 1" }'),
      'node "a": when: Unknown variable: x',
    ],
    [
      'a condition on a node that is not before it',
      nodes('a: { service: step }', 'b: { service: step, when: "outputs.a == 1" }') + '\noutput: b',
      'node "b": when: outputs.a: no such node lies before it',
    ],
    [
      'a condition on an output that still streams',
      nodes(
        'a: { service: llm, stream: true }',
        'b: { service: sentence-guard, after: [a], when: "size(outputs.a) > 0" }',
      ),
      'node "b": when: outputs.a: that node still streams when the condition is evaluated',
    ],
    [
      'a fallback with an unknown service',
      nodes('a: { service: step, fallback: { service: oracle } }'),
      'node "a": fallback.service: unknown service "oracle"',
    ],
    [
      'a fallback of another kind',
      nodes('a: { service: step, fallback: { service: llm } }'),
      'node "a": fallback.service: gives answer, but "step" gives text',
    ],
    [
      'a fallback with a bad parameter',
      nodes('a: { service: llm, fallback: { params: { max_tokens: 0 } } }'),
      'node "a": fallback.params.max_tokens: Too small',
    ],
    [
      'a hedge after the timeout',
      nodes('a: { service: step, timeoutMs: 100, hedgeAfterMs: 100 }'),
      'node "a": hedgeAfterMs: must be less than timeoutMs, 100',
    ],
    ['YAML that is none', 'nodes: {', 'broken.yaml: Flow map'],
    ['a key twice', nodes('a: { service: step }', 'a: { service: llm }'), 'Map keys must be unique'],
  ])('refuses %s', (_what, yaml, message) => {
    const problems = problemsOf(yaml);
    expect(problems.join('\n')).toContain(message);
    expect(problems[0]).toMatch(/^broken\.yaml: /);
  });

  it('lists every problem at once', () => {
    const problems = problemsOf(nodes('a: { service: oracle, after: [x] }', 'b: { service: sphinx }'));
    expect(problems).toHaveLength(3);
  });

  it('refuses an empty file', () => {
    expect(() => parse('', 'empty.yaml')).toThrow('empty.yaml: nodes: Invalid input');
  });
});

describe('the size of a file', () => {
  it.each([
    ['characters', `# ${'x'.repeat(100_000)}`, 'characters'],
    ['fields', `{${Array.from({ length: 3_000 }, (_unused, index) => `k${index}: 1`).join(',')}}`, 'colons'],
    ['nested lists', '['.repeat(6_000), 'brackets'],
  ])('is refused before it is parsed where it has too many %s', (_name, text, word) => {
    const start = performance.now();
    expect(() => readMegaServiceSource(text, 'large.yaml')).toThrow(word);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
