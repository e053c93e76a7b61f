import { expect, it } from 'vitest';
import { DraftGain, type DraftMode } from './draft-gain.js';

/** Runs passes in the mode that the gain chooses; returns the modes. */
function run(gain: DraftGain, passes: number, speeds: Record<DraftMode, { tokens: number; ms: number }>) {
  return Array.from({ length: passes }, () => {
    const mode = gain.allowsDrafts ? 'drafts' : 'plain';
    gain.note(mode, speeds[mode].tokens, speeds[mode].ms);
    return mode;
  });
}

const count = (modes: readonly DraftMode[], mode: DraftMode) => modes.filter((each) => each === mode).length;

const [single, fast, slow] = [
  { tokens: 1, ms: 5 },
  { tokens: 4, ms: 10 },
  { tokens: 1.5, ms: 10 },
];

it('checks drafts while they bring more tokens a millisecond', () => {
  const modes = run(new DraftGain(), 60, { drafts: fast, plain: single });
  expect(count(modes, 'plain')).toBeLessThan(8);
});

it('leaves drafts out while they cost more than they bring, and tries them now and then', () => {
  const modes = run(new DraftGain(), 400, { drafts: slow, plain: single });
  const later = count(modes.slice(10), 'drafts');
  expect(later).toBeGreaterThanOrEqual(9);
  expect(later).toBeLessThanOrEqual(15);
});

it('changes its mind when the answers change', () => {
  const gain = new DraftGain();
  run(gain, 200, { drafts: slow, plain: single });
  const modes = run(gain, 500, { drafts: fast, plain: single });
  expect(count(modes.slice(-40), 'plain')).toBeLessThan(3);
});
