import { describe, expect, it } from 'vitest';
import { compileCondition } from './condition.js';

const context = {
  request: { query: 'What is it?', n: 3, ratio: 0.5 },
  parameters: { k: 0, guard: false, template: '' },
  outputs: { retrieval: [{ score: 0.3 }, { score: 0.9 }] },
};

describe('compileCondition', () => {
  it.each([
    ['parameters.k == 0', true],
    ['parameters.k > 1', false],
    ['request.n >= 3 && request.ratio < 1', true],
    ['size(outputs.retrieval) > 0', true],
    ['outputs.retrieval.exists(document, document.score > 0.8)', true],
    ['has(parameters.top_n)', false],
    ['parameters.?top_n.orValue(5) == 5', true],
    ['!parameters.guard && parameters.template == ""', true],
    ['request.query.contains("it")', true],
    ['request.n * 2 + 1 == 7 && 10 / request.n > 3 && 4 - request.n == 1', true],
  ])('%s is %s', (source, expected) => {
    expect(compileCondition(source).evaluate(context)).toBe(expected);
  });

  it.each([
    ['outputs.retrieval.size() > 0', ['retrieval']],
    ['has(outputs.a) || outputs["b-c"].found', ['a', 'b-c']],
    ['outputs.?a.orValue(1) == 1', ['a']],
    ['request.outputs == 1', []],
  ])('%s reads the outputs %j', (source, names) => {
    expect(compileCondition(source).outputs).toEqual(names);
  });

  it.each([
    ['request.n', 'does not return a boolean'],
    ['parameters.absent == 1', 'No such key: absent'],
    ['request.constructor == 1', 'No such key: constructor'],
    ['request["__proto__"] == 1', 'No such key: __proto__'],
  ])('%s is no decision: %s', (source, message) => {
    expect(() => compileCondition(source).evaluate(context)).toThrow(message);
  });

  it.each([
    ['process.exit()', 'Unknown variable: process'],
    ['constructor', 'Unknown variable: constructor'],
    ['eval("1")', 'eval'],
    ['request.n ==', 'Unexpected token: EOF'],
    ['() => 1', 'Unexpected token'],
    ['1', 'a value of type int, not a boolean'],
    [`${'('.repeat(100)}true${')'.repeat(100)}`, 'maxDepth'],
  ])('refuses %s', (source, message) => {
    expect(() => compileCondition(source)).toThrow(message);
  });
});
