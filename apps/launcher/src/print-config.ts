import { launcherEnvironmentSchema, type LauncherEnvironment } from './environment.js';

const secretName = /(KEY|KEYS|TOKEN|SECRET|PASSWORD)$/;
const mask = '***';

/** Hides what a URL carries before its @; a name alone is hidden too, since NATS takes a token in its place. */
function maskUrl(value: string): string {
  if (!URL.canParse(value)) return value;
  const url = new URL(value);
  if (url.password !== '') url.password = mask;
  else if (url.username !== '' && url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    url.username = mask;
  for (const name of url.searchParams.keys()) {
    if (secretName.test(name.toUpperCase())) url.searchParams.set(name, mask);
  }
  return url.href;
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
