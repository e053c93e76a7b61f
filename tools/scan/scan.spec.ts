import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '#platform/testing';
import { describe, expect, it } from 'vitest';
import { dangersOf } from './code.mjs';
import { secretsOf } from './secrets.mjs';

describe('secretsOf', () => {
  it.each([
    `a\n-----BEGIN RSA PRIVATE KEY-----`,
    `a\nkey: AKIAQ3WERTYUIOPASDFG`,
    `a\nghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8`,
    `a\npostgres://admin:Xk29vLqpA7@db:5432`,
    `a\nconst apiKey = '9fQ2xLm7Zt4Vb8Rk1Wy6';`,
  ])('finds the credential of %j in its line', (text) => {
    expect(secretsOf(text)).toMatchObject([{ line: 2 }]);
  });

  it.each([
    'AKIAIOSFODNN7EXAMPLE',
    'const token = nextTokenOfTheStreamThatArrives;',
    'postgres://user:${password}@host',
    'passwords are stored as hashes',
  ])('takes %j for no credential', (text) => expect(secretsOf(text)).toEqual([]));
});

describe('dangersOf', () => {
  it.each([
    'x = eval(text);',
    'new Function("return 1")',
    "spawn('ls', { shell: true })",
    'node.innerHTML = text;',
    'connect({ rejectUnauthorized: false })',
    "createHash('md5')",
    'id = Math.random()',
    "database.query(`SELECT 1 FROM t WHERE a = '${name}'`)",
  ])('finds %j', (text) => expect(dangersOf(`// a\n${text}`)).toMatchObject([{ line: 2 }]));

  it.each([
    'const match = pattern.exec(text);',
    'database.query(`SELECT 1 FROM t WHERE a = $1`, [name])',
    "createHash('sha256')",
  ])('leaves %j', (text) => expect(dangersOf(text)).toEqual([]));
});

describe('the workflows', () => {
  const folder = join(repositoryRoot, '.github/workflows');
  const uses = readdirSync(folder).flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/uses: *(.*)$/gm)].map(([, used]) => used!),
  );

  it('use actions by their commit, with the version beside it, since a tag can be moved', () => {
    expect(uses.length).toBeGreaterThan(9);
    expect(uses.filter((used) => !/^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used))).toEqual(
      [],
    );
  });

  it('sign the images and attach the list of their packages', () => {
    const release = readFileSync(join(folder, 'release.yml'), 'utf8');
    for (const step of ['npm run --silent sbom', 'sbom: true', 'cosign sign', 'cosign attest'])
      expect(release).toContain(step);
  });
});
