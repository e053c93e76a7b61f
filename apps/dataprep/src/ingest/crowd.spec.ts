import { expect, it } from 'vitest';
import { Crowd } from './crowd.js';

const { signal } = new AbortController();

/** Tasks that end when the test lets them. */
function tasks() {
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const task = (name: string) => async () => {
    running.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    running.splice(running.indexOf(name), 1);
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { running, task, end };
}

it('runs tasks together, and one alone after those before it and before those after it', async () => {
  const crowd = new Crowd();
  const { running, task, end } = tasks();
  const all = [
    crowd.together(task('a'), signal),
    crowd.together(task('b'), signal),
    crowd.alone(task('alone'), signal),
    crowd.together(task('c'), signal),
  ];
  await new Promise(setImmediate);
  expect(running).toEqual(['a', 'b']);
  await end('a');
  expect(running).toEqual(['b']);
  await end('b');
  expect(running).toEqual(['alone']);
  await end('alone');
  expect(running).toEqual(['c']);
  await end('c');
  await Promise.all(all);
});

it('lets the others go on after a task that waited was cancelled, or failed', async () => {
  const crowd = new Crowd();
  const { running, task, end } = tasks();
  const abort = new AbortController();
  const first = crowd.together(task('a'), signal);
  const cancelled = crowd.alone(task('alone'), abort.signal);
  const second = crowd.together(task('b'), signal);
  await new Promise(setImmediate);
  expect(running).toEqual(['a']);
  abort.abort();
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  expect(running).toEqual(['a', 'b']);
  await end('a');
  await end('b');
  await Promise.all([first, second]);
  await expect(crowd.alone(() => Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
  expect(await crowd.alone(() => Promise.resolve('after'), signal)).toBe('after');
});
