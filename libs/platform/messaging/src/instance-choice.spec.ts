import { MegaNestError } from '#platform/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { InstanceChoice } from './instance-choice.js';
import { NobodyThereError } from './wire.js';

const overloaded = new MegaNestError('overloaded', { service: 'llm', detail: 'full', retryAfter: 1 });

describe('the choice of an instance', () => {
  let now: number;
  let choice: InstanceChoice;
  const answer = (...loads: [id: string, load: string | undefined, models?: string[]][]) => {
    choice.asked('llm');
    for (const [id, load, models] of loads) choice.note('llm', id, { load, models });
  };
  /** How often each instance gets a call that is sent when nothing else is under way. */
  const chosen = (affinity?: string) => {
    const ids = Array.from({ length: 200 }, () => choice.route('llm', { affinity }).next());
    return new Set(ids);
  };

  beforeEach(() => {
    now = 10_000;
    choice = new InstanceChoice(() => now);
  });

  it('is left to the queue group where fewer than two instances are known', () => {
    expect(choice.route('llm').next()).toBeUndefined();
    answer(['a', '0']);
    expect(choice.route('llm').next()).toBeUndefined();
  });

  it('is left to the queue group where an instance announces no load, or names are forbidden', () => {
    answer(['a', '0'], ['b', '0'], ['old', undefined]);
    expect(choice.route('llm').next()).toBeUndefined();
    choice.forget();
    answer(['a', '0'], ['b', '0']);
    expect(chosen()).toEqual(new Set(['a', 'b']));
    choice.forbid('llm');
    expect(choice.route('llm').next()).toBeUndefined();
  });

  it('prefers the less busy of two', () => {
    answer(['a', '5'], ['b', '1']);
    expect(chosen()).toEqual(new Set(['b']));
  });

  it('counts the calls of this client that were not announced yet, each once', () => {
    answer(['a', '0'], ['b', '2']);
    const ends = [1, 2, 3].map(() => choice.begin('llm', 'a'));
    expect(chosen()).toEqual(new Set(['b']));
    // Of the three that `a` announces now all are this client's own.
    answer(['a', '3'], ['b', '2']);
    ends.forEach((end) => end());
    expect(chosen()).toEqual(new Set(['a']));
  });

  it('counts the bulk calls of others once for an interactive call', () => {
    choice.asked('llm');
    choice.note('llm', 'ingesting', { load: '8', bulk: '8' });
    choice.note('llm', 'chatting', { load: '2' });
    const chosenFor = (priority: 'bulk' | 'interactive') =>
      new Set(Array.from({ length: 50 }, () => choice.route('llm', { priority }).next()));
    expect(chosenFor('interactive')).toEqual(new Set(['ingesting']));
    expect(chosenFor('bulk')).toEqual(new Set(['chatting']));
    // A call does not wait at all on an instance without work.
    choice.note('llm', 'chatting', { load: '0' });
    expect(chosenFor('interactive')).toEqual(new Set(['chatting']));
  });

  it('forgets a load that is old', () => {
    answer(['a', '5'], ['b', '1']);
    now += 3_000;
    expect(chosen()).toEqual(new Set(['a', 'b']));
  });

  it('leaves out an instance that does not answer, and one that is about to stop', () => {
    answer(['a', '0'], ['b', '9'], ['c', '9']);
    answer(['b', '9'], ['c', '9']);
    expect(chosen().has('a')).toBe(true);
    now += 600;
    // Asked again and again, it still has not answered since the first time.
    answer(['b', '9'], ['c', '9']);
    expect(chosen()).toEqual(new Set(['b', 'c']));
    answer(['a', 'none'], ['b', '9'], ['c', '9']);
    expect(chosen()).toEqual(new Set(['b', 'c']));
  });

  it('leads the same key to the same instance, unless that is busier than others', () => {
    answer(['a', '0'], ['b', '0'], ['c', '0']);
    const [home] = chosen('a conversation');
    expect(chosen('a conversation')).toEqual(new Set([home]));
    const keys = Array.from({ length: 50 }, (_unused, index) =>
      choice.route('llm', { affinity: `${index}` }).next(),
    );
    expect(new Set(keys).size).toBe(3);
    answer([home!, '3']);
    expect(chosen('a conversation')).toEqual(new Set([home]));
    answer([home!, '4']);
    expect(chosen('a conversation').has(home)).toBe(false);
  });

  it('goes on to others while there are some that have not refused for lack of room', () => {
    answer(['a', '0'], ['b', '0'], ['c', '0']);
    const route = choice.route('llm');
    const tried = [route.next()];
    expect(route.goesOn(overloaded)).toBe(true);
    tried.push(route.next());
    expect(route.goesOn(overloaded)).toBe(true);
    tried.push(route.next());
    expect(route.goesOn(overloaded)).toBe(false);
    expect(new Set(tried)).toEqual(new Set(['a', 'b', 'c']));
  });

  it('asks an instance that was full again after a second at the latest', () => {
    answer(['a', '0'], ['b', '9']);
    const route = choice.route('llm');
    expect(route.next()).toBe('a');
    route.goesOn(new MegaNestError('overloaded', { service: 'llm', detail: 'full', retryAfter: 60 }));
    expect(chosen()).toEqual(new Set(['b']));
    now += 1_001;
    answer(['a', '0'], ['b', '9']);
    expect(chosen()).toEqual(new Set(['a']));
  });

  it('goes on from one that is gone, in the end to the queue group', () => {
    answer(['a', '0'], ['b', '0']);
    const route = choice.route('llm');
    route.next();
    expect(route.goesOn(new NobodyThereError('llm'))).toBe(true);
    expect(route.next()).toBeUndefined();
    expect(route.goesOn(new NobodyThereError('llm'))).toBe(false);
  });

  it('sends a call that names a model to an instance that announces it, also to the only one', () => {
    answer(['a', '5', ['small']], ['b', '0', ['large']], ['c', '0', ['large']]);
    const chosenFor = (model: string) =>
      new Set(Array.from({ length: 100 }, () => choice.route('llm', { model }).next()));
    expect(chosenFor('small')).toEqual(new Set(['a']));
    expect(chosenFor('large')).toEqual(new Set(['b', 'c']));
    expect(chosenFor('unknown').size).toBeGreaterThan(1);
    const route = choice.route('llm', { model: 'large' });
    route.next();
    expect(route.goesOn(overloaded)).toBe(true);
    route.next();
    // Room on an instance of another model is of no use.
    expect(route.goesOn(overloaded)).toBe(false);
  });

  it('keeps to the model where its instance is slow to answer, not where it is about to stop', () => {
    answer(['a', '0', ['small']], ['b', '0', ['large']]);
    answer(['b', '0', ['large']]);
    now += 600;
    answer(['b', '0', ['large']]);
    expect(choice.route('llm', { model: 'small' }).next()).toBe('a');
    answer(['a', 'none', ['small']]);
    expect([choice.serves('llm', 'small'), choice.lacks('llm', 'small')]).toEqual([false, true]);
  });

  it('goes on from the queue group to an instance that serves the model', () => {
    const route = choice.route('llm', { model: 'small' });
    const unknown = new MegaNestError('model_not_found', { model: 'small', available: 'large' });
    expect(route.next()).toBeUndefined();
    expect(route.goesOn(unknown)).toBe(false);
    answer(['a', '0', ['small']], ['b', '0', ['large']]);
    expect(route.goesOn(unknown)).toBe(true);
    expect(route.next()).toBe('a');
    expect(route.goesOn(unknown)).toBe(false);
  });

  it('waits for an instance that announces a model, no longer than it is allowed to', async () => {
    const found = choice.whenServed('llm', 'small', 60_000);
    answer(['b', '0', ['large']]);
    answer(['a', '0', ['small']]);
    await found;
    await choice.whenServed('llm', 'unknown', 1);
    choice.forget();
    const old = choice.whenServed('llm', 'small', 60_000);
    answer(['a', '0']);
    // Its instances announce no models.
    await old;
    expect(choice.lacks('llm', 'small')).toBe(false);
  });

  it('goes on from one that serves another model, not from one that failed', () => {
    answer(['a', '0'], ['b', '0']);
    const route = choice.route('llm');
    route.next();
    const failed = new MegaNestError('internal_error', { service: 'llm', detail: 'x' });
    expect(route.goesOn(failed)).toBe(false);
    const unknown = new MegaNestError('model_not_found', { model: 'x', available: 'y' });
    expect(route.goesOn(unknown)).toBe(true);
  });
});
