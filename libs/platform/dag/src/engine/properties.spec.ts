import * as fc from 'fast-check';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MegaNestError } from '#platform/contracts';
import type { NodeDefinition } from '../definition/types.js';
import { planOf, start, type Deed, type Plan } from '../random-plans.fixture.js';
import { Scenario, type Outcome } from '../random-run.fixture.js';

const everything: Deed['end'][] = [
  ...(['give', 'give', 'give', 'give', 'stream', 'stream'] as const),
  ...(['retryable', 'fatal', 'throw', 'hang', 'cut', 'answer', 'break'] as const),
];

const clock = { runAll: () => vi.runAllTimersAsync(), countTimers: () => vi.getTimerCount() };

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});

afterEach(() => {
  vi.useRealTimers();
});

/** What is wrong with a run that has ended; nothing, for an engine that is right. */
type Complaints = (scenario: Scenario, outcome: Outcome) => (string | false)[];

/** Plays random plans; a run that hangs for ever without a deadline is cancelled, as its caller would do. */
async function findFault(complaints: Complaints): Promise<void> {
  const play = async (plan: Plan) => {
    vi.setSystemTime(start);
    const endless = plan.cancelAtMs === undefined && plan.deadlineMs === undefined;
    const scenario = new Scenario(endless ? { ...plan, cancelAtMs: 5000 } : plan);
    const faults = complaints(scenario, await scenario.play(clock)).filter(Boolean);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  };
  await fc.assert(fc.asyncProperty(planOf(everything), play), { numRuns: 150 });
}

function mostAttempts({ retry, hedgeAfterMs, fallback }: NodeDefinition): number {
  return retry.attempts * (hedgeAfterMs === undefined ? 1 : 2) * (fallback ? 2 : 1);
}

const attemptsInOrder: Complaints = ({ calls, definition }) => {
  const keys = calls.map(({ node, context }) => `${node} ${context.attempt}`);
  return [
    new Set(keys).size < keys.length && `an attempt was made twice: ${keys.join(', ')}`,
    ...calls.flatMap(({ node, inputsReady, late, context: { attempt } }) => {
      const known = definition.nodes.get(node);
      return [
        late && `${node} was called after the end of the run`,
        !inputsReady && `${node} was called before its inputs`,
        (!known || attempt > mostAttempts(known)) && `${node} was called ${attempt} times`,
      ];
    }),
  ];
};

const nothingLeft: Complaints = ({ caller, openStreams, timersLeft, handle }) => [
  timersLeft !== 0 && `${timersLeft} timers were left`,
  getEventListeners(caller.signal, 'abort').length > 0 && 'a listener was left',
  openStreams > 0 && `${openStreams} streams were left open`,
  handle.receipt().state === 'running' && 'the run has not ended',
];

const toldToStop: Complaints = ({ calls, handle }) => {
  const states = new Map(handle.receipt().nodes.map(({ node, state }) => [node, state]));
  const deaf = calls.filter(
    ({ node, context }) => states.get(node) === 'cancelled' && !context.signal.aborted,
  );
  return deaf.map(({ node }) => `${node} was cancelled and its signal was not aborted`);
};

const receiptComplete: Complaints = ({ calls, events, handle, definition }, outcome) => {
  const { nodes, state } = handle.receipt();
  const names = nodes.map(({ node }) => node);
  const settlings = events.filter(({ type }) => type === 'node-settled').map(({ node }) => node);
  const failures = nodes.filter((node) => node.state === 'failed');
  return [
    (state === 'ok') !== 'value' in outcome && `the run is ${state}, and its result is not`,
    String(names) !== String([...definition.nodes.keys()]) && `the receipt has ${names.join(', ')}`,
    String(settlings.toSorted()) !== String(names) && `events settled ${settlings.join(', ')}`,
    failures.length > 1 && 'more than one node failed',
    ...nodes.flatMap(({ node, state, why, startedAt, attempts, runMs }) => [
      (state === 'waiting' || state === 'running') && `${node} is ${state}`,
      attempts !== calls.filter((call) => call.node === node).length && `${node} has ${attempts} attempts`,
      (startedAt !== undefined) !== attempts > 0 && `${node} started at ${startedAt}`,
      state !== 'ok' && why === undefined && `${node} is ${state} without a reason`,
      !(runMs >= 0) && `${node} ran for ${runMs} ms`,
    ]),
  ];
};

const streamAgrees: Complaints = ({ read }, outcome) => {
  if ('error' in outcome) return [!(outcome.error instanceof MegaNestError) && 'an error without a code'];
  const { value } = outcome;
  const answered = Array.isArray(value) && value[0] === 'verdict';
  const expected = answered ? [String(value)] : [JSON.stringify(value), JSON.stringify([value])];
  const found = answered ? String(read.at(-1)) : JSON.stringify(read);
  return [!expected.includes(found) && `the stream gave ${found}, the result ${expected[0]}`];
};

describe('for random graphs, failures, delays, cancels and deadlines', () => {
  it.each([
    ['an attempt is made once, after its inputs, and none after a failure or cancel', attemptsInOrder],
    ['nothing is left: no timer, no listener, no open stream', nothingLeft],
    ['what is cancelled has been told to stop', toldToStop],
    ['the receipt is complete and agrees with the calls and the result', receiptComplete],
    ['errors have a code, and the stream holds what the result is made of', streamAgrees],
  ])('%s', async (_what, complaints) => {
    await expect(findFault(complaints)).resolves.toBeUndefined();
  });
});

/** Every node may fail, but nothing depends on the clock. */
const timeless = planOf(['give', 'retryable', 'cut', 'stream']).map((plan) => ({
  ...plan,
  relay: false,
  cancelAtMs: undefined,
  deadlineMs: undefined,
  leaveAfter: undefined,
  nodes: plan.nodes.map((node) => ({
    ...node,
    optional: true,
    needs: false,
    attempts: 1,
    timeoutMs: undefined,
    hedgeAfterMs: undefined,
  })),
}));

function delayed(plan: Plan, delays: number[]): Plan {
  const nodes = plan.nodes.map((node, index) => {
    const afterMs = delays[index % delays.length] ?? 0;
    return { ...node, deeds: node.deeds.map((deed) => ({ ...deed, afterMs })) };
  });
  return { ...plan, nodes };
}

/** The result and how each node ended; of a failure only that it was one, as the first of several decides. */
async function endOf(plan: Plan): Promise<unknown> {
  const scenario = new Scenario(plan);
  const outcome = await scenario.play(clock);
  return 'error' in outcome ? 'failed' : [outcome, Object.fromEntries(scenario.settled)];
}

describe('where nothing depends on time', () => {
  it('delays change nothing', async () => {
    const property = fc.asyncProperty(
      timeless,
      fc.array(fc.nat(50), { minLength: 1 }),
      async (plan, delays) => {
        expect(await endOf(delayed(plan, delays))).toEqual(await endOf(delayed(plan, [0])));
      },
    );
    await expect(fc.assert(property, { numRuns: 100 })).resolves.toBeUndefined();
  });
});
