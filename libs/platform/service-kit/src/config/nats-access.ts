import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { booleanSchema, bytes, count, EnvironmentError } from './variables.js';
import { version, type ServiceIdentity } from '../service-identity.js';

const text = z.string().optional();

/** The variables for the address of NATS, the credentials, and the encryption of the connection. */
export const natsEnvironmentShape = {
  /** One server, or a comma-separated list for a cluster: `nats://user:password@host:4222`, `tls://token@host`. */
  NATS_URL: z.string().default('nats://127.0.0.1:4222'),
  NATS_USER: text,
  NATS_PASSWORD: text,
  /** A file with the password. */
  NATS_PASSWORD_FILE: text,
  NATS_TOKEN: text,
  /** The seed of a user's key pair: `SU…`. */
  NATS_NKEY: z
    .string()
    .regex(/^SU[A-Z2-7]{56}$/, 'Expected the seed of a user, which begins with SU')
    .optional(),
  /** A credentials file, as `nsc generate creds` writes it. */
  NATS_CREDS_FILE: text,
  /** The authority that signed the server's certificate, if the system does not trust it already. */
  NATS_CA_FILE: text,
  /** The client certificate and its key. */
  NATS_CERT_FILE: text,
  NATS_KEY_FILE: text,
  /** Maximum bytes of a new bucket for uploads, and its number of copies in a cluster. */
  NATS_BUCKET_MAX_BYTES: bytes('stored', 1_048_576).optional(),
  NATS_BUCKET_REPLICAS: count(1, 5).optional(),
  /** A network without credentials is trusted. */
  MEGANEST_ALLOW_OPEN: booleanSchema.default(false),
};
const natsEnvironmentSchema = z.object(natsEnvironmentShape).partial();
export type NatsEnvironment = z.infer<typeof natsEnvironmentSchema>;

/** Credentials, encryption and the bucket of uploads; `tls` is present where the connection must be encrypted. */
type NatsRights = ReturnType<typeof credentialsOf> & ReturnType<typeof tlsOf> & ReturnType<typeof bucketOf>;

interface ServerUrl {
  address: string;
  host: string;
  encrypted: boolean;
  user?: string;
  password?: string;
  token?: string;
}

/**
 * Reads the address of NATS and the credentials. Errors: EnvironmentError that names the variable, also for two kinds
 * of credentials, and for a server on another machine without credentials.
 */
export function natsAccess(environment: NatsEnvironment): { url: string } & NatsRights {
  const servers = (environment.NATS_URL ?? 'nats://127.0.0.1:4222').split(',').map(parseServer);
  const access = {
    url: servers.map(({ address }) => address).join(','),
    ...credentialsOf(environment, servers),
    ...tlsOf(environment, servers),
    ...bucketOf(environment),
  };
  assertProtected(environment, access, servers);
  return access;
}

/** The options of `MessagingModule.register` for a service. Errors: the errors of `natsAccess`. */
export function messagingOptions(identity: ServiceIdentity, environment: NatsEnvironment) {
  return { ...identity, ...natsAccess(environment), name: identity.service, version };
}

const notServer = 'a server is not nats://host:port; special characters of a password are written as %..';

function parseServer(url: string): ServerUrl {
  const trimmed = url.trim();
  const [, scheme = 'nats', rest = ''] = /^(?:(\w+):\/\/)?(.*)$/.exec(trimmed) ?? [];
  if (scheme !== 'nats' && scheme !== 'tls') throw wrongUrl(`${scheme}:// is not nats:// or tls://`);
  if (!URL.canParse(`nats://${rest}`)) throw wrongUrl(notServer);
  const { hostname, host, port, username, password, pathname, search, hash } = new URL(`nats://${rest}`);
  if (hostname === '' || !/^\/?$/.test(pathname) || search || hash) throw wrongUrl(notServer);
  const [name, secret] = [username, password].map(decodeURIComponent);
  return {
    address: port === '' ? `${host}:4222` : host,
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    encrypted: scheme === 'tls',
    ...(secret ? { user: name, password: secret } : name ? { token: name } : {}),
  };
}

function wrongUrl(detail: string): EnvironmentError {
  return new EnvironmentError(`NATS_URL: ${detail}.`);
}

function credentialsOf(environment: NatsEnvironment, servers: ServerUrl[]) {
  const user = environment.NATS_USER ?? same(servers, 'user');
  const password = environment.NATS_PASSWORD ?? same(servers, 'password');
  const token = environment.NATS_TOKEN ?? same(servers, 'token');
  const { NATS_NKEY: nkey, NATS_CREDS_FILE: credentialsFile } = environment;
  if (user === undefined && environment.NATS_PASSWORD !== undefined)
    throw new EnvironmentError('NATS_PASSWORD needs NATS_USER, or a user in NATS_URL.');
  const kinds = {
    'a user': user,
    'a token': token,
    NATS_NKEY: nkey,
    NATS_CREDS_FILE: credentialsFile,
  };
  const given = Object.entries(kinds).flatMap(([kind, value]) => (value === undefined ? [] : [kind]));
  if (given.length > 1)
    throw new EnvironmentError(`NATS takes one kind of credentials, not ${given.join(' and ')}.`);
  if (credentialsFile !== undefined) assertReadable('NATS_CREDS_FILE', credentialsFile);
  return {
    ...(user !== undefined && { user, password: password ?? '' }),
    ...(token !== undefined && { token }),
    ...(nkey !== undefined && { nkey }),
    ...(credentialsFile !== undefined && { credentialsFile }),
  };
}

/** The value that all URLs of a cluster share; a URL without credentials uses the credentials of the others. */
function same(servers: ServerUrl[], field: 'user' | 'password' | 'token'): string | undefined {
  const values = new Set(servers.flatMap((server) => server[field] ?? []));
  if (values.size > 1) throw wrongUrl('the servers have different credentials');
  return [...values][0];
}

function tlsOf(environment: NatsEnvironment, servers: ServerUrl[]) {
  const { NATS_CA_FILE: caFile, NATS_CERT_FILE: certFile, NATS_KEY_FILE: keyFile } = environment;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new EnvironmentError('NATS_CERT_FILE and NATS_KEY_FILE belong together; one is missing.');
  const files = { NATS_CA_FILE: caFile, NATS_CERT_FILE: certFile, NATS_KEY_FILE: keyFile };
  const given = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
  for (const [variable, path] of given) assertReadable(variable, path);
  if (given.length === 0 && !servers.some(({ encrypted }) => encrypted)) return {};
  return { tls: { ...(caFile && { caFile }), ...(certFile && { certFile, keyFile }) } };
}

function bucketOf({ NATS_BUCKET_MAX_BYTES: maxBytes, NATS_BUCKET_REPLICAS: replicas }: NatsEnvironment) {
  if (maxBytes === undefined && replicas === undefined) return {};
  return { bucket: { ...(maxBytes && { maxBytes }), ...(replicas && { replicas }) } };
}

function assertReadable(variable: string, path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw new EnvironmentError(`${variable}: ${path} cannot be read.`, { cause });
  }
}

/** Refuses an open NATS server: any of its clients can read requests, answer for services and delete documents. */
function assertProtected(
  { MEGANEST_ALLOW_OPEN }: NatsEnvironment,
  { user, token, nkey, credentialsFile, tls }: NatsRights,
  servers: ServerUrl[],
): void {
  const foreign = servers.find(({ host }) => !isLoopback(host));
  const isKnown = [user, token, nkey, credentialsFile, tls?.certFile].some((value) => value !== undefined);
  if (foreign === undefined || isKnown || MEGANEST_ALLOW_OPEN) return;
  throw new EnvironmentError(
    `NATS_URL: refusing to use ${foreign.address} without credentials. Set NATS_USER and NATS_PASSWORD, NATS_TOKEN, ` +
      'NATS_NKEY, NATS_CREDS_FILE or NATS_CERT_FILE, or MEGANEST_ALLOW_OPEN=true on a trusted network.',
  );
}

/** True if a host is this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
