/** Health check of a container: `node deploy/health.mjs <url>` succeeds when the URL answers 200 within 4 s. */
const response = await fetch(process.argv[2], { signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
process.exit(response?.status === 200 ? 0 : 1);
