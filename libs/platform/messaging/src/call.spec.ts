import { headers, type Msg } from '@nats-io/transport-node';
import { beforeEach, describe, expect, it } from 'vitest';
import { defineMethod } from '#platform/contracts';
import { z } from 'zod';
import { Call } from './call.js';
import { checkMs, header, silenceMs } from './wire.js';

const method = defineMethod({
  service: 'step',
  method: 'step',
  request: z.object({}),
  reply: z.object({ text: z.string() }),
});
const maxQuietChecks = silenceMs / checkMs;

/** As much of a message as a call reads. */
const messageOf = (fields: Record<string, string>, text = '') => {
  const all = headers();
  for (const [name, value] of Object.entries(fields)) all.set(name, value);
  return { headers: all, data: new TextEncoder().encode(text) } as unknown as Msg;
};
const heartbeat = (instance?: string) =>
  messageOf({ [header.stream]: 'alive', ...(instance !== undefined && { [header.instance]: instance }) });

describe('a call', () => {
  let ended: (string | undefined)[];
  let call: Call<typeof method>;
  const check = (times: number) => Array.from({ length: times }, () => call.checkSilence());

  beforeEach(() => {
    ended = [];
    call = new Call(method, { push: () => undefined, end: (error) => ended.push(error?.message) });
  });

  it('is given up after five seconds of silence, and not one check sooner', () => {
    expect(check(maxQuietChecks)).toEqual([false, ...Array.from({ length: maxQuietChecks - 1 }, () => true)]);
    expect(ended).toEqual([]);
    check(1);
    expect(ended).toEqual([expect.stringContaining('it stopped answering')]);
  });

  it.each([
    [
      'its own code',
      '503',
      '{"code":"no_tea","status":503,"message":"no tea"}',
      503,
      'The step service is not available: no tea',
    ],
    [
      'a refusal of its own',
      '418',
      '{"code":"teapot","message":"no coffee"}',
      400,
      'The step service refused this: no coffee',
    ],
    ['a code of the table', '404', '{"code":"not_found","message":"Not here."}', 404, 'Not here.'],
    ['only headers', '503', '', 503, 'The step service is not available: a line'],
    ['a body that is not JSON', '500', 'oh', 500, 'The step service failed: a line'],
  ])('reads an error with %s', (_case, code, body, status, message) => {
    const failed: unknown[] = [];
    const refused = new Call(method, { push: () => undefined, end: (error) => failed.push(error) });
    refused.accept(messageOf({ [header.errorCode]: code, [header.error]: 'a line' }, body));
    expect(failed).toEqual([expect.objectContaining({ status, message, service: 'step' })]);
  });

  it('lives on with every heartbeat', () => {
    for (let beat = 0; beat < 3; beat++) {
      check(maxQuietChecks);
      call.accept(heartbeat('one'));
    }
    expect(ended).toEqual([]);
    expect(call.instance).toBe('one');
  });

  it.each([
    [3_000, undefined],
    [4_500, true],
  ])('is not sent again after its instance was silent for %i ms and then gone', (silentMs, final) => {
    const failed: unknown[] = [];
    const lost = new Call(method, { push: () => undefined, end: (error) => failed.push(error) });
    for (let passed = 0; passed < silentMs; passed += checkMs) lost.checkSilence();
    lost.lose();
    expect(failed).toEqual([expect.objectContaining({ code: 'service_unavailable', final })]);
  });

  it('is not sent again after its instance stopped answering', () => {
    const failed: unknown[] = [];
    const stuck = new Call(method, { push: () => undefined, end: (error) => failed.push(error) });
    for (let times = 0; times <= maxQuietChecks; times += 1) stuck.checkSilence();
    expect(failed).toEqual([expect.objectContaining({ final: true })]);
  });

  it('is lost where it is suspected and no sign of life comes', () => {
    call.suspect();
    check(5);
    expect(ended).toEqual([]);
    check(1);
    expect(ended).toEqual([expect.stringContaining('is gone')]);
  });

  it('is above suspicion after a sign of life, and of a service that names no instances', () => {
    call.suspect();
    call.accept(heartbeat('one'));
    check(7);
    call.accept(heartbeat());
    call.suspect();
    check(7);
    expect(ended).toEqual([]);
  });

  it('fails as a call to a service that is away where messages of a stream were lost', () => {
    const errors: unknown[] = [];
    const stream = new Call(
      { ...method, streaming: true },
      { push: () => undefined, end: (error) => errors.push(error) },
    );
    stream.accept(messageOf({}, '{"text":"x"}'));
    stream.accept(messageOf({ [header.stream]: 'end', [header.count]: '3' }));
    expect(errors).toMatchObject([
      {
        code: 'service_unavailable',
        message: expect.stringContaining('2 of 3 messages were lost') as string,
      },
    ]);
  });

  it('ends with its answer, and hears nothing more', () => {
    call.accept(messageOf({}, '{"text":"x"}'));
    call.lose();
    check(maxQuietChecks + 1);
    expect(ended).toEqual([undefined]);
    expect(call.finished).toBe(true);
  });
});
