/**
 * Health check of a container: `node deploy/health.mjs <url>` succeeds when the URL answers 200 within 4 s. It does not use
 * `fetch`, which refuses port 6000, the port of the embedding service.
 */
import { get } from 'node:http';

const status = await new Promise((resolve) => {
  const request = get(process.argv[2], { signal: AbortSignal.timeout(4_000) }, (response) =>
    resolve(response.statusCode),
  );
  request.on('error', () => resolve(undefined));
});
process.exit(status === 200 ? 0 : 1);
