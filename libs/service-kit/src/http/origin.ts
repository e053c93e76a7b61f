import { isIP } from 'node:net';

export interface OriginPolicy {
  /** Origins that may always connect: `https://chat.example.org`. */
  allowed: readonly string[];
  /** True where every request needs a key: a page of somebody else has none. */
  keyed: boolean;
}

/**
 * Whether a page of `origin` may open a WebSocket to a server that it reaches as `host`. Browsers open them across
 * origins without asking, so a page on the internet could drive a server on its visitor's own machine. Programs send no
 * origin and pass. The server's own pages pass, unless a name without keys stands for it: whoever owns a name can point
 * it at any address (DNS rebinding).
 */
export function originAllowed(
  origin: string | undefined,
  host: string | undefined,
  { allowed, keyed }: OriginPolicy,
): boolean {
  if (origin === undefined || allowed.includes(origin)) return true;
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  const ownPage = page.host === host;
  return ownPage && (keyed || cannotBeRebound(page.hostname));
}

function cannotBeRebound(hostname: string): boolean {
  return hostname === 'localhost' || isIP(hostname.replaceAll(/^\[|\]$/g, '')) !== 0;
}
