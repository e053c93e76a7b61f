import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { refusalOfUrl } from './fetch-for-users.js';
import { ForbiddenAddressError, lookupWith, refusalOfAddress } from './guarded-fetch.js';

/** Ranges of the machine itself and of the operator's networks, where engines run. */
const ownRanges: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);

/**
 * The reason to refuse an address of an engine. Link-local addresses, which the metadata services of clouds have, are
 * refused always.
 */
function refusalOfEngine(address: string, allowPrivate: boolean): string | undefined {
  const refusal = refusalOfAddress(address);
  if (!refusal || !allowPrivate || !ipaddr.isValid(address)) return refusal;
  return ownRanges.has(ipaddr.process(address).range()) ? undefined : refusal;
}

/** The reason to refuse an engine's URL, from its text alone; undefined if it is acceptable. */
export function refusalOfEngineUrl(url: string, allowPrivate: boolean): string | undefined {
  return refusalOfUrl(url, true) ?? refusalOfHost(new URL(url).hostname, allowPrivate);
}

function refusalOfHost(hostname: string, allowPrivate: boolean): string | undefined {
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  return isIP(host) ? refusalOfEngine(host, allowPrivate) : undefined;
}

/**
 * Connects to the engines that users of the API name, also after a redirect. An engine may be silent for minutes, so that
 * only the signal of a request limits its time.
 */
export function dispatcherForEngines(allowPrivate: boolean): Dispatcher {
  const connector = buildConnector({
    lookup: lookupWith((address) => refusalOfEngine(address, allowPrivate)),
  });
  const connect: buildConnector.connector = (options, callback) => {
    const refusal = refusalOfHost(options.hostname, allowPrivate);
    if (refusal) return callback(new ForbiddenAddressError(refusal), null);
    connector(options, callback);
  };
  return new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 });
}
