import ipaddr from 'ipaddr.js';

/** Addresses that are public by their range and belong to the platform of a cloud: Azure's wire server. */
const denied: ReadonlySet<string> = new Set(['168.63.129.16', '::ffff:168.63.129.16', '::ffff:a83f:8110']);

/**
 * Why an IP address must not be reached on behalf of a user, or undefined for an ordinary public one. Everything
 * but global unicast is refused: private and shared networks, loopback, link-local (cloud metadata services live
 * there), multicast, and IPv6 forms that carry an IPv4 address past such checks.
 */
export function refusalOfAddress(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is no IP address`;
  const range = denied.has(address) ? 'cloud platform' : ipaddr.process(address).range();
  return range === 'unicast' ? undefined : `${address} is not a public address (${range})`;
}
