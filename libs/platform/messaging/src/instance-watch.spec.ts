import { headers } from '@nats-io/transport-node';
import { beforeEach, describe, expect, it } from 'vitest';
import { InstanceWatch, type WatchedCall } from './instance-watch.js';

/** A call of `service`, and what became of it. */
class CallDouble implements WatchedCall {
  state: 'waiting' | 'suspect' | 'lost' = 'waiting';
  readonly method: { service: string };

  constructor(
    service: string,
    readonly instance: string | undefined,
  ) {
    this.method = { service };
  }

  lose(): void {
    this.state = 'lost';
  }

  suspect(): void {
    this.state = 'suspect';
  }
}

const calls = {
  ofOne: new CallDouble('llm', 'one'),
  ofTwo: new CallDouble('llm', 'two'),
  ofNobodyKnown: new CallDouble('llm', undefined),
  elsewhere: new CallDouble('asr', undefined),
};
let asked: string[];
let watch: InstanceWatch;

beforeEach(() => {
  for (const call of Object.values(calls)) call.state = 'waiting';
  asked = [];
  watch = new InstanceWatch({
    inbox: '_INBOX.me',
    publish: (subject, reply) => asked.push(`${subject} → ${reply}`),
    calls: () => Object.values(calls),
  });
});

/** The service that a token was made for. */
const serviceOf = (token: string) => token.split(/[-=]/)[1] ?? '';
const answer = (token: string, text: string, service = serviceOf(token)) =>
  watch.accept({ headers: undefined, string: () => text }, service, token);
const nobody = (token: string, service = serviceOf(token)) =>
  watch.accept({ headers: headers(503, 'No Responders'), string: () => '' }, service, token);
const states = () => Object.fromEntries(Object.entries(calls).map(([name, { state }]) => [name, state]));

describe('the watch over instances', () => {
  it('asks a service who its instances are, once', () => {
    watch.meet('llm');
    watch.meet('llm');
    expect(asked).toEqual(['meganest.alive.llm → _INBOX.me.llm.alive-llm']);
  });

  it('looks for each known instance of the services that are quiet, and for new ones', () => {
    answer('alive-llm', 'one');
    answer('alive-asr', 'three');
    watch.look(new Set(['llm']));
    expect(asked).toEqual([
      'meganest.alive.llm → _INBOX.me.llm.alive-llm',
      'meganest.alive.llm.one → _INBOX.me.llm.alive-llm=one',
    ]);
  });

  it('hears of a service from that service alone', () => {
    answer('alive-llm', 'forged', 'asr');
    answer('alive-llm', 'one');
    for (let look = 0; look < 5; look++) nobody('alive-llm=one', 'asr');
    expect(states()).toMatchObject({ ofOne: 'waiting' });
    watch.look(new Set(['llm']));
    expect(asked.at(-1)).toBe('meganest.alive.llm.one → _INBOX.me.llm.alive-llm=one');
  });

  it('loses the calls of an instance that is not found five times, and suspects those of which nothing is known', () => {
    answer('alive-llm', 'one');
    answer('alive-llm', 'two');
    for (let look = 0; look < 4; look++) nobody('alive-llm=one');
    expect(states()).toMatchObject({ ofOne: 'waiting', ofNobodyKnown: 'waiting' });
    nobody('alive-llm=one');
    expect(states()).toEqual({
      ofOne: 'lost',
      ofTwo: 'waiting',
      ofNobodyKnown: 'suspect',
      elsewhere: 'waiting',
    });
    watch.look(new Set(['llm']));
    expect(asked.join()).not.toContain('=one');
  });

  it('forgives an instance that was away for a moment', () => {
    answer('alive-llm', 'one');
    for (let look = 0; look < 4; look++) nobody('alive-llm=one');
    answer('alive-llm', 'one');
    for (let look = 0; look < 4; look++) nobody('alive-llm=one');
    expect(states().ofOne).toBe('waiting');
  });

  it('keeps instances of the same name in two services apart', () => {
    answer('alive-llm', 'one');
    answer('alive-asr', 'one');
    for (let look = 0; look < 5; look++) nobody('alive-asr=one');
    expect(states()).toMatchObject({ ofOne: 'waiting', elsewhere: 'suspect' });
  });

  it.each(['my host', 'host.example.org', '', 'a'.repeat(65), 'one>'])(
    'never asks for %j, which is no token',
    (id) => {
      answer('alive-llm', id);
      watch.look(new Set(['llm']));
      expect(asked).toEqual(['meganest.alive.llm → _INBOX.me.llm.alive-llm']);
    },
  );

  it('concludes nothing about services that do not answer such questions, nor about a past connection', () => {
    nobody('alive-llm');
    nobody('alive-llm');
    answer('alive-llm', 'one');
    watch.forget();
    for (let look = 0; look < 5; look++) nobody('alive-llm=one');
    expect(new Set(Object.values(states()))).toEqual(new Set(['waiting']));
  });

  it('leaves messages of other kinds alone', () => {
    answer('ABCDEF', 'one');
    nobody('one');
    nobody('one');
    expect(states().ofOne).toBe('waiting');
  });
});
