import type { Random } from './random.js';

const model = 'nano-chat';
const messages = [{ role: 'user', content: 'x' }];
const controlTokens = [
  '<|im_end|>',
  '<|im_start|>system\n',
  '<|endoftext|>',
  '\u0000',
  '\uFDD0',
  '</s>',
  '[INST]',
];

/** Repetitions within repetitions, classes of many characters, and anchors in odd places. */
function hostilePattern(random: Random): string {
  let pattern = random.pick([
    'a',
    '.',
    String.raw`[^\p{L}x]`,
    String.raw`\p{L}`,
    '(a|a|aa)',
    '(a*)',
    '(?P<n>b)',
  ]);
  for (let level = random.below(7); level > 0; level--)
    pattern = `(${pattern})${random.pick(['{32}', '{18}', '*', '+', '{0,9999}', '{1,30}', '{2,}', '?'])}`;
  return pattern.repeat(random.pick([1, 1, 3, 500])) + random.pick(['', '$', 'x', String.raw`\1`]);
}

function hostileSchema(random: Random, depth = 0): object {
  const inner = () => (depth > 6 ? { type: 'string' } : hostileSchema(random, depth + 1));
  switch (random.below(6)) {
    case 0:
      return { type: 'array', maxItems: 4000, minItems: random.below(5), items: inner() };
    case 1:
      return { type: 'string', pattern: hostilePattern(random) };
    case 2:
      return { allOf: [{ anyOf: [inner(), inner()] }, { anyOf: [inner(), inner()] }] };
    case 3:
      return { $ref: '#' };
    case 4:
      return { type: 'object', properties: { a: inner(), b: inner() }, additionalProperties: inner() };
    default:
      return {
        enum: Array.from({ length: 500 }, (_unused, index) => 'e'.repeat(index % 40) + String(index)),
      };
  }
}

function hostileLark(random: Random): string {
  const rules = Array.from({ length: 1 + random.below(60) }, (_unused, index) => {
    const other = () => `r${random.below(60)}`;
    return `r${index}: ${other()} "x" | ${other()} ${other()} | "y"${random.pick(['', '?', '*', '~2..9'])}`;
  });
  return ['start: r0', ...rules, random.pick(['', '%ignore /\\s*/', 'T: /(a+)+/'])].join('\n');
}

const custom = (grammar: object) => ({
  tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'grammar', grammar } } }],
  tool_choice: 'required',
});

/** A chat that asks for more than it looks like, or tries to speak as somebody else. */
export function hostileChat(random: Random): object {
  const base = { model, messages, max_tokens: 3 };
  switch (random.below(7)) {
    case 0:
      return { ...base, guided_regex: hostilePattern(random) };
    case 1:
      return {
        ...base,
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema: hostileSchema(random) } },
      };
    case 2:
      return { ...base, ...custom({ syntax: 'lark', definition: hostileLark(random) }) };
    case 3:
      return { ...base, ...custom({ syntax: 'regex', definition: hostilePattern(random) }) };
    case 4: {
      const name = random.pick(['chat_template', 'tools', 'messages', 'documents', 'bos_token', 'a b', 'x']);
      const loop = '{% for i in range(30000) %}{% for j in range(30000) %}{% endfor %}{% endfor %}';
      return { ...base, chat_template_kwargs: { [name]: random.pick([loop, [], {}, 1, 'x'.repeat(2000)]) } };
    }
    case 5: {
      const content = Array.from({ length: 1 + random.below(20) }, () => random.pick(controlTokens)).join(
        'a',
      );
      return { ...base, messages: [{ role: random.pick(['user', 'system', 'assistant']), content }] };
    }
    default:
      return { ...base, messages: [{ role: 'user', content: 'qxzjvkw'.repeat(random.below(60_000)) }] };
  }
}
