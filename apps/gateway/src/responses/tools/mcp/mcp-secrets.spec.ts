import { Sealer } from '#responses';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keptSecrets, openSecrets, separateSecrets } from './mcp-secrets.js';

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
