import { describe, expect, it } from 'vitest';
import type { StoredItem } from '../items/input-items.js';
import { compactedContextOf, expandCompactions, openCalls, safeCuts } from './compacted-context.js';

const said = (id: string, text: string, role = 'user'): StoredItem => ({
  type: 'message',
  id,
  role,
  content: [{ type: 'input_text', text }],
});
const call = (id: string): StoredItem => ({ type: 'function_call', id: `fc_${id}`, call_id: id });
const output = (id: string): StoredItem => ({ type: 'function_call_output', id: `o_${id}`, call_id: id });
const ids = (items: readonly StoredItem[]) => items.map(({ id }) => id);

describe('expandCompactions', () => {
  const held = {
    items: [said('sum', 'Summary', 'developer'), said('u2', 'two')],
    covers: ['u1', 'a1', 'u2'],
  };
  const compaction = { type: 'compaction', id: 'cmp', encrypted_content: JSON.stringify(held) };
  const open = (item: StoredItem) => compactedContextOf(String(item['encrypted_content']));

  it('stands for what it covers, by id or by text, and leaves the rest where it is', () => {
    const items = [
      said('d', 'rules', 'developer'),
      said('u1', 'one'),
      said('a1', 'first', 'assistant'),
      said('renamed', 'two'),
      said('other', 'apart'),
      compaction,
      said('u3', 'three'),
    ];
    expect(ids(expandCompactions(items, open))).toEqual(['d', 'other', 'sum', 'u2', 'u3']);
  });

  it('does not take away an assistant’s words of the same text, nor what follows', () => {
    const items = [said('a9', 'two', 'assistant'), compaction, said('u9', 'two')];
    expect(ids(expandCompactions(items, open))).toEqual(['a9', 'sum', 'u2', 'u9']);
  });

  it('changes nothing without compactions', () => {
    const items = [said('u1', 'one')];
    expect(expandCompactions(items, open)).toEqual(items);
  });
});

describe('safeCuts', () => {
  it('never parts an output from its call', () => {
    const items = [said('u', 'x'), call('a'), call('b'), output('a'), output('b'), said('v', 'y')];
    expect(safeCuts(items)).toEqual([0, 1, 5, 6]);
  });

  it('finds calls that wait for their outputs', () => {
    expect(ids(openCalls([call('a'), output('a'), call('b'), said('u', 'x')]))).toEqual(['fc_b']);
  });
});
