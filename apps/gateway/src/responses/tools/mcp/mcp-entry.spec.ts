import { randomBytes } from 'node:crypto';
import { Sealer } from '#api/responses';
import { describe, expect, it } from 'vitest';
import { keptSecrets, openSecrets, parseMcpEntry, separateSecrets } from './mcp-entry.js';

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
    expect(() => parse({ a: 'x\r\nHost: evil' })).toThrow(
      /headers\.a: contains a character that is not allowed/,
    );
    expect(() => parse({ a: '日本' })).toThrow(/headers\.a: contains a character that is not allowed/);
    expect(() => parse({ a: 'x'.repeat(10_000) })).toThrow(/headers\.a/);
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`a${index}`, 'x']));
    expect(() => parse(many)).toThrow(/at most 32/);
  });
});

const sealer = new Sealer([randomBytes(32)]);
const given = [
  {
    type: 'mcp',
    server_label: 'sums',
    server_url: 'https://a.example/secret-path?key=1',
    headers: { 'x-key': 'secret-header' },
    authorization: 'secret-token',
  },
  { type: 'mcp', server_label: 'plain', server_url: 'https://b.example/secret-path' },
];
const { tools, secrets } = separateSecrets(given);
const owner = 'owner';
const sealed = { sealer, owner, keysAreElsewhere: true };

describe('keys of MCP servers', () => {
  it('come back where the sealing keys are configured, and cannot be read in between', () => {
    const kept = keptSecrets(secrets, sealed);
    expect(kept).toBeDefined();
    expect(Buffer.from(kept ?? '', 'base64url').toString('latin1')).not.toContain('secret');
    expect(openSecrets(kept, tools, { sealer, owner })).toEqual(secrets);
    expect(keptSecrets(new Map(), sealed)).toBeUndefined();
  });

  it('are not kept beside the key that would seal them: the response fails and says so', () => {
    const kept = keptSecrets(secrets, { ...sealed, keysAreElsewhere: false });
    expect(kept).toBeUndefined();
    expect(() => openSecrets(kept, tools, { sealer, owner })).toThrow(/RESPONSES_ENCRYPTION_KEYS/);
    const open = separateSecrets([{ type: 'mcp', server_label: 'a', server_url: 'https://a.example' }]);
    expect(openSecrets(undefined, open.tools, { sealer, owner }).size).toBe(0);
  });

  it('open for nobody else, and with no other key', () => {
    const kept = keptSecrets(secrets, sealed);
    expect(() => openSecrets(kept, tools, { sealer, owner: 'other' })).toThrow(/other keys/);
    const other = new Sealer([randomBytes(32)]);
    expect(() => openSecrets(kept, tools, { sealer: other, owner })).toThrow(/other keys/);
  });
});
