import type { ChildExit, SupervisionEvent } from '#platform/local-stack';
import { launcherEnvironmentSchema, type LauncherEnvironment } from './environment.js';

/** The example question of the README. Its answer is a sentence of the sample documents. */
const sampleQuestion = 'What happens when a service dies?';

interface SummaryOptions {
  gatewayUrl: string;
  /** Names and URLs of the servers and services. */
  addresses: readonly (readonly [name: string, url: string])[];
  logDirectory: string;
  needsKey: boolean;
  /** Whether the gateway serves the web app. */
  webUi: boolean;
  readyAfterMs: number;
}

/** Formats milliseconds as seconds: "3.4 s". */
function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function sampleCommand(gatewayUrl: string, needsKey: boolean): string {
  const body = JSON.stringify({ messages: [{ role: 'user', content: sampleQuestion }] });
  const key = needsKey ? ` -H 'Authorization: Bearer <one of API_KEYS>'` : '';
  return `curl ${gatewayUrl}/v1/chat/completions -H 'Content-Type: application/json'${key} -d '${body}'`;
}

/** Output of `npm start` when everything is ready: the addresses, and a request to paste into a shell. */
export function describeReady(options: SummaryOptions): string {
  const width = Math.max(...options.addresses.map(([name]) => name.length)) + 2;
  return [
    '',
    `MegaNest is ready after ${formatSeconds(options.readyAfterMs)}.`,
    '',
    ...options.addresses.map(([name, url]) => `  ${name.padEnd(width)}${maskUrl(url)}`),
    `  ${'logs'.padEnd(width)}${options.logDirectory}`,
    '',
    ...(options.webUi
      ? [`Open ${options.gatewayUrl}/ in a browser, or ask it something here:`]
      : ['Ask it something:']),
    '',
    `  ${sampleCommand(options.gatewayUrl, options.needsKey)}`,
    '',
    'Ctrl-C stops everything.',
  ].join('\n');
}

function describeExit({ code, signal, error }: ChildExit): string {
  if (error) return error.message;
  return signal ?? `exit code ${code}`;
}

/** Writes a line to the console when a child is ready, hangs or dies. */
export function reportEvent(name: string, event: SupervisionEvent): void {
  const label = name.padEnd(11);
  if (event.type === 'ready') console.log(`${label}ready (${formatSeconds(event.afterMs)})`);
  if (event.type === 'hung')
    console.error(
      `${label}does not answer any more and is killed: it has neither answered nor computed for ${formatSeconds(event.silentMs)}`,
    );
  if (event.type === 'exited' && event.restartInMs !== undefined)
    console.error(
      `${label}died (${describeExit(event.exit)}), restarting in ${formatSeconds(event.restartInMs)}`,
    );
}

const secretName = /(KEY|KEYS|TOKEN|SECRET|PASSWORD)$/;
const mask = '***';

/** Masks the part of a URL before its @. The user of a database stays; in other URLs the user may be a NATS token. */
function maskCredentials(urls: string): string {
  if (/^postgres(ql)?:/.test(urls)) return urls.replace(/^(\w+:\/\/[^:/@]*):[^/?#]*@/, `$1:${mask}@`);
  return urls.replaceAll(/(^|[\s,]|:\/\/)[^/?#\s]+@/g, `$1${mask}@`);
}

/** Masks secrets in the query parameters of a URL. */
function maskQuery(url: string): string {
  return url.replaceAll(/([?&])([^=&]+)=([^&#]+)/g, (whole, start: string, name: string) =>
    secretName.test(name.toUpperCase()) ? `${start}${name}=${mask}` : whole,
  );
}

/** A URL or a comma list of URLs for display: passwords, tokens and keys become ***. */
export function maskUrl(value: string): string {
  return maskQuery(maskCredentials(value));
}

/** The value of a variable for display: lists with commas, secrets as ***. */
export function showValue(name: string, value: unknown): string {
  if (value === undefined) return '(unset)';
  const items = Array.isArray(value) ? (value as unknown[]) : [value];
  if (items.length === 0) return '(none)';
  return items.map((item) => (secretName.test(name) ? mask : maskUrl(String(item)))).join(',');
}

/** The resolved configuration for display, one `NAME=value` per line in alphabetical order, secrets masked. */
export function describeConfiguration(environment: Readonly<LauncherEnvironment>): string {
  return Object.keys(launcherEnvironmentSchema.shape)
    .toSorted()
    .map((name) => `${name}=${showValue(name, environment[name as keyof LauncherEnvironment])}`)
    .join('\n');
}
