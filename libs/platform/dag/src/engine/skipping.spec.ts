import { describe, expect, it } from 'vitest';
import { MegaNestError } from '#platform/contracts';
import { parseMegaService } from '../definition/parse.js';
import { createServiceRegistry } from '../definition/types.js';
import { define, hang, parse, readAll, registry, runWith, statesOf } from '../dag.fixture.js';

const fail = () => Promise.reject(new MegaNestError('internal_error', { service: 'step', detail: 'boom' }));

function whyOf(run: ReturnType<typeof runWith>, node: string): string | undefined {
  return run.receipt().nodes.find((receipt) => receipt.node === node)?.why;
}

describe('a condition', () => {
  const conditional = define(
    'retrieval: { service: retrieval }',
    'reranking: { service: reranking, after: [retrieval], when: "size(outputs.retrieval) > 1" }',
    'llm: { service: llm, after: [reranking] }',
  );

  it('that holds lets the node run', async () => {
    const run = runWith(conditional, { retrieval: () => ['a', 'b'] });
    await run.result;
    expect(statesOf(run)).toEqual({ retrieval: 'ok', reranking: 'ok', llm: 'ok' });
  });

  it('that is false skips the node; a bypass input replaces its output for the followers', async () => {
    const run = runWith(conditional, { retrieval: () => [], llm: ({ inputs }) => inputs.documents });
    expect(await run.result).toEqual([]);
    expect(statesOf(run)).toEqual({ retrieval: 'ok', reranking: 'skipped', llm: 'ok' });
    expect(whyOf(run, 'reranking')).toBe('when: size(outputs.retrieval) > 1');
    expect(run.receipt().nodes[1]).not.toHaveProperty('code');
  });

  it('that is false leaves the followers as much of the bypass input as the node had returned', async () => {
    const run = runWith(
      define(
        'retrieval: { service: retrieval }',
        'reranking: { service: reranking, after: [retrieval], params: { top_n: 2 }, when: "false" }',
        'llm: { service: llm, after: [reranking] }',
      ),
      { retrieval: () => ['a', 'b', 'c'], llm: ({ inputs }) => inputs.documents },
    );
    expect(await run.result).toEqual(['a', 'b']);
  });

  it('that is false cuts what depends only on the node, and no more', async () => {
    const definition = define(
      'always: { service: step }',
      'maybe: { service: step, when: "request.wanted" }',
      'below: { service: step, after: [maybe] }',
      'join: { service: step, after: [below, always] }',
    );
    const run = runWith(definition, {}, { request: { wanted: false } });
    expect(await run.result).toBe("join's output");
    expect(statesOf(run)).toEqual({ always: 'ok', maybe: 'skipped', below: 'skipped', join: 'ok' });
    expect(whyOf(run, 'below')).toBe('follows only "maybe"');
  });

  it('that is false skips a join that cannot do without the input', async () => {
    const definition = parse(
      `nodes:
        near: { service: retrieval }
        far: { service: retrieval, when: "parameters.k > 10" }
        fusion: { service: fusion, inputs: { first: near, second: far } }
        last: { service: llm, after: [near], inputs: { documents: near } }
      output: last`.replaceAll('\n      ', '\n'),
    );
    const run = runWith(definition, {}, { parameters: { k: 3 } });
    await run.result;
    expect(statesOf(run)).toEqual({ near: 'ok', far: 'skipped', fusion: 'skipped', last: 'ok' });
    expect(whyOf(run, 'fusion')).toBe('its input "second" is missing: "far" was skipped');
  });

  it('that skips the output node is an error with the reason', async () => {
    const run = runWith(define('a: { service: step, when: "false" }'));
    await expect(run.result).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'The mega service test does not have an answer to this request (when: false).',
    });
    await expect(readAll(run.stream)).rejects.toThrow('does not have an answer');
    expect((await run.settled).state).toBe('failed');
  });

  it('that cannot be decided fails the run', async () => {
    const run = runWith(define('a: { service: step, when: "request.absent == 1" }'));
    await expect(run.result).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining(
        'condition of node "a" could not be decided: No such key: absent',
      ) as string,
    });
    expect(run.calls).toEqual([]);
  });

  it('sees the parameters in force, those of its own node in front', async () => {
    const definition = define(
      'near: { service: retrieval, params: { k: 1 } }',
      'far: { service: retrieval, after: [near], params: { k: 2 }, when: "parameters.k == 2" }',
      'llm: { service: llm, after: [far], when: "parameters.k == 1 && !parameters.echo" }',
    );
    const run = runWith(definition, {}, { parameters: { echo: false } });
    await run.result;
    expect(statesOf(run)).toEqual({ near: 'ok', far: 'ok', llm: 'ok' });
  });
});

describe('an optional node', () => {
  it('without a stand-in leaves an optional input absent', async () => {
    const definition = define(
      'embedding: { service: embedding, optional: true }',
      'retrieval: { service: retrieval, after: [embedding] }',
    );
    const run = runWith(definition, { embedding: fail, retrieval: ({ inputs }) => Object.keys(inputs) });
    expect(await run.result).toEqual([]);
    expect(whyOf(run, 'embedding')).toBe('The step service failed: boom');
  });

  it('is only skipped after its retries and its fallback', async () => {
    const definition = define(
      'retrieval: { service: retrieval }',
      'reranking: { service: reranking, after: [retrieval], optional: true, fallback: { params: { top_n: 1 } } }',
    );
    const run = runWith(definition, { retrieval: () => ['d'], reranking: fail });
    expect(await run.result).toEqual(['d']);
    expect(run.receipt().nodes[1]).toMatchObject({ state: 'skipped', attempts: 2 });
  });

  it('is cancelled, not skipped, when the run is', async () => {
    const definition = define(
      'retrieval: { service: retrieval }',
      'reranking: { service: reranking, after: [retrieval], optional: true }',
    );
    const controller = new AbortController();
    const run = runWith(definition, { retrieval: hang }, { signal: controller.signal });
    controller.abort();
    await expect(run.result).rejects.toMatchObject({ code: 'cancelled' });
    expect(statesOf(run)).toEqual({ retrieval: 'cancelled', reranking: 'cancelled' });
  });
});

describe('a short-circuit', () => {
  const guarded = define(
    'guard: { service: guard }',
    'embedding: { service: embedding }',
    'retrieval: { service: retrieval, after: [guard, embedding] }',
    'llm: { service: llm, after: [retrieval], stream: true }',
  );
  const refusal = { cut: true, answer: { text: 'I cannot say.' } };

  it('cuts everything below, stops what runs beside it and answers in its place', async () => {
    const run = runWith(guarded, { guard: () => refusal, embedding: hang });
    expect(await readAll(run.stream)).toEqual([{ text: 'I cannot say.' }]);
    expect(await run.result).toEqual([{ text: 'I cannot say.' }]);
    expect(await run.settled).toMatchObject({ state: 'ok' });
    expect(statesOf(run)).toEqual({
      guard: 'ok',
      embedding: 'cancelled',
      retrieval: 'skipped',
      llm: 'skipped',
    });
    expect(whyOf(run, 'llm')).toBe('short-circuited by "guard"');
    expect(whyOf(run, 'embedding')).toBe('"guard" answered in its place');
    expect(run.calls.map(({ node }) => node)).toEqual(['guard', 'embedding']);
  });

  it('that finds nothing lets the run go on', async () => {
    const run = runWith(guarded, { guard: () => ({ cut: false }) });
    expect(await run.result).toBe("llm's output");
  });

  it('reaches those that also have other predecessors', async () => {
    const run = runWith(guarded, { guard: ({ signal }) => Promise.resolve(signal.aborted || refusal) });
    expect(await run.result).toEqual([{ text: 'I cannot say.' }]);
    expect(statesOf(run)).toEqual({ guard: 'ok', embedding: 'ok', retrieval: 'skipped', llm: 'skipped' });
  });

  it('without an answer only cuts its branch, joins included', async () => {
    const nodes = [
      'guard: { service: guard }',
      'main: { service: step }',
      'join: { service: step, after: [guard, main] }',
      'below: { service: step, after: [join, main] }',
    ];
    const definition = parse(`nodes:\n  ${nodes.join('\n  ')}\noutput: main`);
    const run = runWith(definition, { guard: () => ({ cut: true }) });
    expect(await run.result).toBe("main's output");
    expect(statesOf(run)).toEqual({ guard: 'ok', main: 'ok', join: 'skipped', below: 'skipped' });
    expect(whyOf(run, 'below')).toBe('short-circuited by "guard"');
  });

  it('whose answer cannot be made an output fails the run', async () => {
    const collect = () => {
      throw new Error('no such chunk');
    };
    const kinds = [...registry.values()].map((kind) =>
      kind.service === 'llm' ? { ...kind, collect } : kind,
    );
    const yaml =
      'name: t\ndescription: d\nnodes: { g: { service: guard }, l: { service: llm, after: [g], stream: true } }';
    const definition = parseMegaService(yaml, 't.yaml', { registry: createServiceRegistry(kinds) });
    const run = runWith(definition, { g: () => refusal });
    await expect(run.result).rejects.toMatchObject({ code: 'internal_error' });
    await run.settled;
  });

  it('of the only node answers', async () => {
    const run = runWith(define('guard: { service: guard }'), { guard: () => ({ cut: true, answer: 0 }) });
    expect(await run.result).toBe(0);
    expect(await readAll(run.stream)).toEqual([0]);
  });
});
