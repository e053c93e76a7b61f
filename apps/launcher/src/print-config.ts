import { launcherEnvironmentSchema, type LauncherEnvironment } from './environment.js';

const secretName = /(KEY|KEYS|TOKEN|SECRET|PASSWORD)$/;
const mask = '***';

/** Hides what URLs carry before their @, but for a database's user: all of it, since a name alone may be a NATS token. */
function maskCredentials(urls: string): string {
  if (/^postgres(ql)?:/.test(urls)) return urls.replace(/^(\w+:\/\/[^:/@]*):[^/?#]*@/, `$1:${mask}@`);
  return urls.replaceAll(/(^|[\s,]|:\/\/)[^/?#\s]+@/g, `$1${mask}@`);
}

/** Hides the secrets among a URL's query parameters. */
function maskQuery(url: string): string {
  return url.replaceAll(/([?&])([^=&]+)=([^&#]+)/g, (whole, start: string, name: string) =>
    secretName.test(name.toUpperCase()) ? `${start}${name}=${mask}` : whole,
  );
}

/** A URL, or a comma list of them, as it may be shown: passwords, tokens and keys as ***. */
export function maskUrl(value: string): string {
  return maskQuery(maskCredentials(value));
}

/** The value of a variable as it may be shown: lists with commas, secrets as ***. */
export function showValue(name: string, value: unknown): string {
  if (value === undefined) return '(unset)';
  const items = Array.isArray(value) ? (value as unknown[]) : [value];
  if (items.length === 0) return '(none)';
  return items.map((item) => (secretName.test(name) ? mask : maskUrl(String(item)))).join(',');
}

/** The resolved configuration, one `NAME=value` per line, in alphabetical order, secrets masked. */
export function describeConfiguration(environment: Readonly<LauncherEnvironment>): string {
  return Object.keys(launcherEnvironmentSchema.shape)
    .toSorted()
    .map((name) => `${name}=${showValue(name, environment[name as keyof LauncherEnvironment])}`)
    .join('\n');
}
