import { describe, expect, it } from 'vitest';
import { parseMcpEntry } from './mcp-entry.js';

const parse = (headers: Record<string, string>) =>
  parseMcpEntry({ type: 'mcp', server_label: 'a', server_url: 'https://a.example', headers }, 'tools[0]');

describe('parseMcpEntry', () => {
  it('takes headers of the server', () => {
    expect(parse({ 'X-Api-Key': 'secret', 'x-name': 'Müller' }).headers).toBeDefined();
  });

  it.each(['Host', 'content-length', 'Transfer-Encoding', 'connection', 'accept-encoding'])(
    'refuses %s, which the connection sets',
    (name) => {
      expect(() => parse({ [name]: 'x' })).toThrow(/set by the connection/);
    },
  );

  it('refuses values that no header can hold', () => {
    expect(() => parse({ a: 'x\r\nHost: evil' })).toThrow(/no header can/);
    expect(() => parse({ a: '日本' })).toThrow(/no header can/);
    expect(() => parse({ a: 'x'.repeat(10_000) })).toThrow(/headers\.a/);
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`a${index}`, 'x']));
    expect(() => parse(many)).toThrow(/at most 32/);
  });
});
