import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { snippetsOf } from './snippets';

const connection = { address: 'https://example.org/meganest', key: `it's "a" $KEY`, model: 'chatqna' };
const codeFor = (client: string) =>
  snippetsOf(connection).find((snippet) => snippet.client === client)?.code ?? '';

describe('snippets', () => {
  it.each(snippetsOf(connection))('for $client hold the address', ({ code }) => {
    expect(code).toContain(connection.address);
  });

  it('keep any key whole in a shell', () => {
    const print = (name: string) => `sh -c 'printf %s "$${name}"'`;
    const printed = (code: string, program: RegExp, name: string) =>
      execFileSync('sh', ['-c', code.replace(program, print(name))], { encoding: 'utf8' });
    expect(printed(codeFor('Open WebUI'), /open-webui serve/, 'OPENAI_API_KEY')).toBe(connection.key);
    expect(printed(codeFor('Claude Code'), /claude .*/, 'ANTHROPIC_API_KEY')).toBe(connection.key);
  });

  it('keep any key whole in JSON', () => {
    const { mcpServers } = JSON.parse(codeFor('MCP (mcp.json)')) as { mcpServers: { meganest: object } };
    expect(mcpServers.meganest).toMatchObject({ headers: { Authorization: `Bearer ${connection.key}` } });
  });
});
