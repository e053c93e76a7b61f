import { describe, expect, it } from 'vitest';
import { Lanes } from './lanes.js';

const gate = () => {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

describe('Lanes', () => {
  it('runs the turns of a lane in order and those of two lanes beside each other', async () => {
    const lanes = new Lanes({ maxLanes: 2, maxTurns: 10 });
    const ran: string[] = [];
    const first = gate();
    lanes.add('a', async () => {
      await first.opened;
      ran.push('a1');
    });
    lanes.add('a', async () => {
      ran.push('a2');
      await Promise.resolve();
    });
    const other = gate();
    lanes.add('b', async () => {
      ran.push('b1');
      other.open();
      await Promise.resolve();
    });
    await other.opened;
    expect(ran).toEqual(['b1']);
    first.open();
    await lanes.idle();
    expect(ran).toEqual(['b1', 'a1', 'a2']);
    expect(lanes.turns).toBe(0);
  });

  it('refuses lanes and turns beyond its bounds, and has room again afterwards', async () => {
    const lanes = new Lanes({ maxLanes: 2, maxTurns: 3 });
    const running = gate();
    const turn = () => running.opened;
    lanes.add('a', turn);
    lanes.add('b', turn);
    expect(() => lanes.add('c', turn)).toThrow(/at most 2/);
    lanes.add('a', turn);
    expect(() => lanes.add('b', turn)).toThrow(/3 waiting turns/);
    running.open();
    await lanes.idle();
    expect(() => lanes.add('c', turn)).not.toThrow();
    await lanes.idle();
  });
});
