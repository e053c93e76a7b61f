import { describe, expect, it } from 'vitest';
import { writeTask } from './write-task.js';

const history = [
  { role: 'user', content: 'What is the height of the Zebulon tower in Kelthir?' },
  { role: 'assistant', content: 'It is 40 meters high.' },
];

describe('writeTask', () => {
  it('writes a short plain title, within the limit of words', () => {
    expect(writeTask({ kind: 'title', history })).toBe('Height Zebulon tower Kelthir');
    expect(writeTask({ kind: 'title', history, maxWords: 2 })).toBe('Height Zebulon');
    expect(writeTask({ kind: 'title', history: [{ role: 'user', content: '?!' }] })).toBe('New chat');
  });

  it('writes the JSON that is asked for', () => {
    const title = writeTask({ kind: 'title', history, json: { key: 'title', isList: false } });
    expect(JSON.parse(title)).toEqual({ title: 'Height Zebulon tower Kelthir' });
    const tags = JSON.parse(writeTask({ kind: 'tags', history, json: { key: 'tags', isList: true } }));
    expect(tags).toEqual({ tags: expect.arrayContaining(['Zebulon', 'Tower']) as unknown });
    const queries = writeTask({ kind: 'queries', history, json: { key: 'queries', isList: true } });
    expect(JSON.parse(queries)).toEqual({ queries: [history[0]!.content] });
  });

  it('suggests questions about the subjects of the conversation', () => {
    expect(writeTask({ kind: 'follow-ups', history })).toMatch(/^(?:What else .*\?\n?){3}$/);
  });
});
