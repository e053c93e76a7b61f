import ipaddr from 'ipaddr.js';

/**
 * Why an IP address must not be reached on behalf of a user, or undefined for an ordinary public one. Everything
 * but global unicast is refused: private and shared networks, loopback, link-local (cloud metadata services live
 * there), multicast, and IPv6 forms that carry an IPv4 address past such checks.
 */
export function refusalOfAddress(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is no IP address`;
  const range = ipaddr.process(address).range();
  return range === 'unicast' ? undefined : `${address} is not a public address (${range})`;
}
