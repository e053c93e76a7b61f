import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { McpSessions } from './mcp-sessions.js';

const limits = { perOwner: 2, all: 3, idleMs: 1_000 };
const closed: string[] = [];
let sessions: McpSessions;
let begin: (() => unknown) | undefined;

function open(given = limits): McpSessions {
  sessions = new McpSessions(
    { onBegin: (listener) => (begin = () => listener(new AbortController().signal)) },
    given,
  );
  return sessions;
}

function session(id: string, owner = 'ada', endStreams = vi.fn<() => void>()) {
  const close = async () => void closed.push(id);
  return { id, owner, transport: { close } as unknown as Transport, endStreams };
}

afterEach(async () => {
  await sessions.onApplicationShutdown();
  closed.length = 0;
});

describe('McpSessions', () => {
  it('shows a session to its owner only', () => {
    open().add(session('a'));
    expect(sessions.find('a', 'ada')?.id).toBe('a');
    expect(sessions.find('a', 'bob')).toBeUndefined();
    expect(sessions.find('b', 'ada')).toBeUndefined();
  });

  it('closes the session of an owner that was used least recently', () => {
    vi.useFakeTimers();
    open();
    for (const id of ['a', 'b', 'c']) {
      vi.advanceTimersByTime(1);
      sessions.add(session(id));
      if (id === 'b') sessions.find('a', 'ada');
    }
    vi.useRealTimers();
    expect(closed).toHaveLength(1);
    expect(sessions.size).toBe(2);
    expect(sessions.find('c', 'ada')).toBeDefined();
  });

  it('closes sessions beyond the limit of all owners', () => {
    open();
    for (const id of ['a', 'b', 'c', 'd']) sessions.add(session(id, id));
    expect(closed).toEqual(['a']);
  });

  it('closes a session that is not used, but not during a request', () => {
    open();
    sessions.add(session('a'));
    sessions.add(session('b'));
    const end = sessions.use('b');
    sessions.closeIdle(Date.now() + 2_000);
    expect(closed).toEqual(['a']);
    end();
    sessions.closeIdle(Date.now() + 2_000);
    expect(closed).toEqual(['a', 'b']);
  });

  it('ends the waiting streams when the gateway begins to stop', () => {
    const endStreams = vi.fn<() => void>();
    open().add(session('a', 'ada', endStreams));
    begin?.();
    expect(endStreams).toHaveBeenCalledOnce();
    expect(sessions.stopping).toBe(true);
  });
});
