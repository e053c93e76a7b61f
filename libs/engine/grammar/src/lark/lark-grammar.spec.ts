import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConstraintError, type Grammar, type GrammarNode } from '../grammar.js';
import { pruneGrammar } from '../prune-grammar.js';
import { RandomWriter } from '../../../generation/src/constrained/random-writer.fixture.js';
import { larkGrammar } from './lark-grammar.js';

/** The form of grammar that Codex sends with its tool for patches. */
const patchGrammar = `
start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
`;

/** The form of the one for source with a line in front that says how to run it. */
const sourceGrammar = String.raw`
start: pragma_source | plain_source
pragma_source: PRAGMA_LINE NEWLINE SOURCE
plain_source: SOURCE

PRAGMA_LINE: /[ \t]*\/\/ @run:[^\r\n]*/
NEWLINE: /\r?\n/
SOURCE: /(?:\s*)(?:[^\s{\"${'`'}]|${'`'}[^${'`'}])[\s\S]*/
`;

/** Whether a grammar has a text, by trying every way to read it: small texts only. */
function takes({ root, rules }: Grammar, text: string): boolean {
  const ends = (node: GrammarNode, from: number, depth = 0): Set<number> => {
    if (depth > 200) return new Set();
    const after = (inner: GrammarNode, places: Iterable<number>) =>
      new Set([...places].flatMap((place) => [...ends(inner, place, depth + 1)]));
    switch (node.kind) {
      case 'text':
        return text.startsWith(node.text, from) ? new Set([from + node.text.length]) : new Set();
      case 'characters': {
        const code = text.codePointAt(from);
        const is = code !== undefined && node.set.some(([first, last]) => code >= first && code <= last);
        return is ? new Set([from + String.fromCodePoint(code).length]) : new Set();
      }
      case 'sequence':
        return node.parts.reduce<Set<number>>((places, part) => after(part, places), new Set([from]));
      case 'choice':
        return new Set(node.options.flatMap((option) => [...ends(option, from, depth + 1)]));
      case 'repeat': {
        const found = new Set(node.min === 0 ? [from] : []);
        let places = new Set([from]);
        for (let count = 1; count <= node.max && places.size > 0 && count <= text.length + 1; count += 1) {
          places = after(node.item, places);
          if (count >= node.min) for (const place of places) found.add(place);
        }
        return found;
      }
      default:
        return ends(rules.get(node.name)!, from, depth + 1);
    }
  };
  return ends(root, 0).has(text.length);
}

const patches = [
  '*** Begin Patch\n*** Add File: a.txt\n+one\n+\n*** End Patch',
  '*** Begin Patch\n*** Delete File: a b.txt\n*** Update File: ü.ts\n@@\n-old\n+new\n same\n*** End Patch\n',
  '*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ here\n x\n*** End of File\n*** End Patch\n',
];

describe('larkGrammar', () => {
  it.each<[string, string, string[], string[]]>([
    [
      'Codex’s patches',
      patchGrammar,
      patches,
      ['', '*** Begin Patch\n*** End Patch', 'text', `${patches[0]}!`],
    ],
    ['source code', sourceGrammar, ['// @run: 5\nx()', ' let a = {};', '`a`'], ['{"a": 1}', '"x"', '```js']],
    [
      'what is ignored between terminals',
      'start: "let" NAME "=" NUMBER ";"\nNAME: /[a-z]+/\n%import common.NUMBER\n%import common.WS\n%ignore WS',
      ['let x=1;', ' let  x = 1.5e3 ;\n', 'letx=1;'],
      ['le t x=1;', 'let x=1. 5;', 'let x=;'],
    ],
    [
      'repetitions, ranges, cases and options',
      'start: "GET"i ("a".."c")~2 [/x/i] ("," DIGIT~1..2)*\n%import common (DIGIT)',
      ['getab', 'GetccX', 'GETab,1,22'],
      ['getad', 'geta', 'getab,123', 'getab,'],
    ],
    [
      'alternatives over lines, priorities, aliases, comments',
      '?start: one // the first\n  | two -> other\n  |\none.2: "1" # one\n!two: "2"\n',
      ['1', '2', ''],
      ['3', '12'],
    ],
    [
      'expressions as Python has them',
      String.raw`start: A | B | C | D | E
A: /a{2}{/
B: /[]\-x]+ ?\#/
C: /(?P<name>q)\r?/
D: /.[^.]q/s
E: /[^A]e/i`,
      ['aa{', ']-x #', 'q\r', '\nxq', 'bE'],
      ['aaa', 'qq', 'a.q', 'ae', 'Ae'],
    ],
  ])('takes %s', (_what, source, taken, refused) => {
    const grammar = pruneGrammar(larkGrammar(source));
    expect(taken.filter((text) => !takes(grammar, text))).toEqual([]);
    expect(refused.filter((text) => takes(grammar, text))).toEqual([]);
  });

  it('has exactly the texts that the same expression has', () => {
    expect.hasAssertions();
    const source = 'start: "a" (B "c" | "d")* E?\nB: "b"~1..2\nE: /[x-z]|e/';
    const grammar = larkGrammar(source);
    const expression = /^a(?:b{1,2}c|d)*(?:[x-z]|e)?$/;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'y', 'bc'), { maxLength: 8 }),
        (parts) => {
          const text = `a${parts.join('')}`;
          expect(takes(grammar, text)).toBe(expression.test(text));
        },
      ),
    );
  });

  it.each([
    ['begin: "a"', 'There is no rule "start"'],
    ['start: other', 'Line 1: other is not defined'],
    ['start: A\nA: start', 'Line 2: start is a rule'],
    ['start: "a"\nstart: "b"', 'Line 2: start is defined twice'],
    ['start: list{"a"}', 'templates, as list{…}'],
    ['list{item}: item', 'templates, as list{…}'],
    ['start[capture]: "a"', 'attributes, as start[…]'],
    ['start: <|end|>', 'special tokens'],
    ['start: %json {}', 'directive within a rule'],
    ['%declare A\nstart: A', '%declare is not supported'],
    ['%import python.NAME\nstart: NAME', '%import python.NAME is not supported'],
    ['start: WS\n%import common.WHITE -> WS', '%import common.WHITE is not supported'],
    ['start: /a(?=b)/', 'looking around'],
    ['start: /^a/', 'anchors'],
    ['start: /a\\Z/', 'Invalid escape'],
    ['start: /(a)\\1/', 'is not supported'],
    ['start: /a/x', 'the flag "x"'],
    ['start: "a', 'a text does not end'],
    ['start: "\\d"', 'the escape \\d'],
    ['start: "b".."a"', 'a range goes'],
    ['start: "a"~3..2', 'a repetition goes up'],
    ['start: ("a" | "b"', 'a group is not closed'],
    [`start: "a"${'?'.repeat(60_000)}`, 'nested too deep'],
    [`start: ${'('.repeat(1_000)}`, 'nested too deep'],
    // One that tries every way to read a comment would not come to an end.
    [`start: "a" ${'# '.repeat(5_000)}\n)`, 'is not understood'],
    ['start: "a" )', '")" is not understood'],
    ['start: "a" start', 'Nothing can satisfy'],
  ])('refuses what is wrong, case %#', (source, reason) => {
    let error: unknown;
    try {
      pruneGrammar(larkGrammar(source));
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConstraintError);
    expect((error as ConstraintError).reason).toContain(reason);
  });
});

describe('the input of a custom tool, written by a random-weight model', { timeout: 120_000 }, () => {
  let writer: RandomWriter;
  beforeAll(async () => {
    writer = await RandomWriter.open();
  });
  afterAll(() => writer?.close());

  const begin = '<call>{"input": "';
  async function inputs(lark: string, logit_bias: Record<string, number> = {}): Promise<string[]> {
    const tags = [{ begin, end: '"}</call>', lark }];
    const constraint = {
      type: 'structural_tag' as const,
      triggers: ['<call>'],
      tags,
      required: true,
      single: true,
    };
    const written = await writer.write({ constraint, n: 4, seed: 5, max_tokens: 400, logit_bias });
    const whole = written.filter((answer) => answer.whole).map(({ text }) => text);
    return whole.map(
      (text) => (JSON.parse(text.slice('<call>'.length, -'</call>'.length)) as { input: string }).input,
    );
  }

  it('is a patch of the grammar, as JSON', async () => {
    const ends = {
      [writer.idOf('<0x0A>')]: 5,
      [writer.idOf('\\n')]: 12,
      [writer.idOf('\\')]: 8,
      [writer.idOf('*')]: 8,
    };
    const found = await inputs(patchGrammar, ends);
    expect(found.length).toBeGreaterThan(0);
    const grammar = larkGrammar(patchGrammar);
    expect(found.filter((text) => !takes(grammar, text))).toEqual([]);
  });

  it.each([
    ['start: start | "a"', /^a$/],
    ['start: start* "b"', /^b+$/],
    ['start: ("a"?)* "b"', /^a*b$/],
    ['start: (A*)~2..3 "b"\nA: /(?:a*)+/', /^a*b$/],
    ['start: x "a"\nx: y?\ny: x?', /^a$/],
  ])('comes to an end with %j', async (source, expression) => {
    const found = await inputs(source, { [writer.idOf('b')]: 8 });
    expect(found.length).toBeGreaterThan(0);
    for (const text of found) expect(text).toMatch(expression);
  });

  it('keeps to rules that begin with themselves, and to what is ignored', async () => {
    const source =
      'start: sum\nsum: sum "+" term | term\nterm: DIGIT | "(" sum ")"\nDIGIT: "0".."9"\nSP: " "\n%ignore SP';
    const found = await inputs(source, { [writer.idOf('"')]: 8, [writer.idOf('▁')]: -5 });
    expect(found.length).toBeGreaterThan(0);
    for (const text of found) expect(text.replaceAll(/[ ()]/g, '')).toMatch(/^\d(\+\d)*$/);
  });
});
