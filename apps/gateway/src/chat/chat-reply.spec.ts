import { describe, expect, it } from 'vitest';
import { serverTiming } from './chat-reply.js';

describe('serverTiming', () => {
  it('has an entry per node and the total, and says what was skipped', () => {
    const node = { service: 's', queuedMs: 0, attempts: 1 };
    const header = serverTiming({
      megaService: 'chatqna',
      state: 'running',
      startedAt: 0,
      runMs: 12.34,
      nodes: [
        { ...node, node: 'embedding', state: 'ok', runMs: 1.25 },
        { ...node, node: 'reranking', state: 'skipped', runMs: 0, attempts: 0 },
        { ...node, node: 'llm', state: 'running', runMs: 9, firstChunkMs: 8 },
      ],
    });
    expect(header).toBe('embedding;dur=1.3, reranking;desc="skipped", llm;dur=8.0, total;dur=12.3');
  });
});
