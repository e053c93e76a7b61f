import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MessagingConnection, type ConnectionOptions } from '#platform/messaging';
import {
  createTemporaryDirectory,
  repositoryRoot,
  startNats,
  startService,
  type TestNats,
} from '#platform/testing';
import { nkeys } from '@nats-io/transport-node';
import { afterEach, describe, expect, it } from 'vitest';

const fixture = (name: string) => join(repositoryRoot, 'test/fixtures/tls', name);
const tls = `tls { cert_file: "${fixture('server.crt')}", key_file: "${fixture('server.key')}", ca_file: "${fixture('ca.crt')}"`;
const caFile = fixture('ca.crt');

let nats: TestNats | undefined;
afterEach(() => nats?.stop());

/** Connects to a server of that configuration, which must answer a ping. */
async function visit(
  configuration: string,
  access: Partial<ConnectionOptions>,
): Promise<MessagingConnection> {
  nats = await startNats(configuration);
  const onWaiting = (message: string) => {
    throw new Error(message);
  };
  const connection = await MessagingConnection.open({ url: nats.url, name: 'test', onWaiting, ...access });
  await connection.ping();
  await connection.close();
  return connection;
}

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** A claim of NATS's own kind of JSON Web Token. */
function sign(issuer: KeyPair, sub: string, name: string, claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = {
    jti: name,
    iat: 1_700_000_000,
    iss: issuer.getPublicKey(),
    name,
    sub,
    nats: { ...claims, version: 2 },
  };
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(body)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}

/** A server that knows one account, and the credentials of a user of it. */
function decentralised(): { configuration: string; credentials: string } {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const id = account.getPublicKey();
  const unlimited = {
    subs: -1,
    conn: -1,
    leaf: -1,
    imports: -1,
    exports: -1,
    data: -1,
    payload: -1,
    wildcards: true,
  };
  const accountToken = sign(operator, id, 'meganest', { type: 'account', limits: unlimited });
  const userToken = sign(account, user.getPublicKey(), 'gateway', {
    type: 'user',
    subs: -1,
    data: -1,
    payload: -1,
  });
  const operatorToken = sign(operator, operator.getPublicKey(), 'operator', { type: 'operator' });
  return {
    configuration: `operator: ${operatorToken}\nresolver: MEMORY\nresolver_preload: { ${id}: ${accountToken} }\n`,
    credentials: [
      `-----BEGIN NATS USER JWT-----\n${userToken}\n------END NATS USER JWT------\n`,
      `-----BEGIN USER NKEY SEED-----\n${new TextDecoder().decode(user.getSeed())}\n------END USER NKEY SEED------\n`,
    ].join('\n'),
  };
}

describe('credentials', () => {
  const alice = 'authorization { user: alice, password: s3cret }';

  it('are a user and a password, a token, or a key pair', async () => {
    expect(await visit(alice, { user: 'alice', password: 's3cret' })).toBeInstanceOf(MessagingConnection);
    await nats?.stop();
    expect(await visit('authorization { token: word }', { token: 'word' })).toBeInstanceOf(
      MessagingConnection,
    );
    await nats?.stop();
    const pair = nkeys.createUser();
    const nkey = new TextDecoder().decode(pair.getSeed());
    expect(
      await visit(`authorization { users: [{ nkey: ${pair.getPublicKey()} }] }`, { nkey }),
    ).toBeInstanceOf(MessagingConnection);
  });

  it('are a credentials file', async () => {
    const directory = await createTemporaryDirectory();
    const { configuration, credentials } = decentralised();
    const credentialsFile = join(directory.path, 'user.creds');
    writeFileSync(credentialsFile, credentials);
    nats = await startNats(configuration, { jetStream: false });
    const connection = await MessagingConnection.open({ url: nats.url, name: 'test', credentialsFile });
    expect(await connection.ping()).toBeGreaterThanOrEqual(0);
    await connection.close();
    rmSync(credentialsFile);
    await directory.remove();
  });

  it.each([{}, { user: 'alice', password: 'wrong' }, { token: 's3cret' }])(
    'that are wrong end the start with a clear error: %o',
    async (access) => {
      await expect(visit(alice, access)).rejects.toThrow(/^NATS at .*: .*authorization violation/);
    },
  );

  it('in NATS_URL let a service in', async () => {
    nats = await startNats(alice);
    const NATS_URL = nats.url.replace('://', '://alice:s3cret@');
    const service = await startService('embedding', { NATS_URL });
    expect((await fetch(`${service.url}/ready`)).status).toBe(200);
    await service.stop();
  });
});

describe('TLS', () => {
  it('trusts the authority that it is given', async () => {
    expect(await visit(`${tls} }`, { tls: { caFile } })).toBeInstanceOf(MessagingConnection);
  });

  it('shows a certificate of its own', async () => {
    const own = { caFile, certFile: fixture('client.crt'), keyFile: fixture('client.key') };
    expect(await visit(`${tls}, verify: true }`, { tls: own })).toBeInstanceOf(MessagingConnection);
  });

  it.each<[string, string, ConnectionOptions['tls'], RegExp]>([
    ['an authority that it does not know', `${tls} }`, {}, /certificate/],
    ['a server without TLS where it was asked for', '', { caFile }, /does not support 'tls'/],
  ])('refuses %s at once', async (_what, configuration, access, message) => {
    await expect(visit(configuration, { tls: access })).rejects.toThrow(message);
  });
});
