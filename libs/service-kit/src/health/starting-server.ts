import { createServer } from 'node:http';
import { once } from 'node:events';
import { MegaNestError } from '#contracts';
import { version, type ServiceIdentity } from '../service-identity.js';
import { currentDownloads } from '../config/model-options.js';
import { errorEnvelope } from '../http/error.filter.js';

const healthPaths = new Set(['/ready', '/health', '/v1/health_check']);

export interface StartingServerOptions {
  identity: ServiceIdentity;
  host: string;
  /** 0: nobody knows the port before the service itself listens, so that nothing is served. */
  port: number;
  /** Whether everybody may know what is being downloaded. */
  isOpen: boolean;
}

/**
 * Answers on the port of a service while it loads its model, which may take as long as a download: `/live` that the process
 * runs, `/v1/health_check` how far the download is, everything else 503. Returns the function that gives the port free.
 * Errors: those of listening, e.g. a port in use.
 */
export async function listenWhileStarting(options: StartingServerOptions): Promise<() => Promise<void>> {
  const { identity, host, port, isOpen } = options;
  if (port === 0) return () => Promise.resolve();
  const startedAt = performance.now();
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const isAlive = path === '/live';
    const downloads = isOpen ? currentDownloads() : [];
    const health = {
      'Service Title': identity.title,
      'Service Version': version,
      'Service Description': identity.description,
      status: path === '/ready' ? 'not ready' : 'unhealthy',
      uptime_seconds: Math.round((performance.now() - startedAt) / 1000),
      dependencies: [{ name: 'model', healthy: false, ...(isOpen && { detail: 'is being loaded' }) }],
      ...(downloads.length > 0 && { downloads }),
    };
    const starting = new MegaNestError('service_unavailable', {
      service: identity.service,
      detail: 'it is loading its model',
    });
    const body = isAlive ? { status: 'alive' } : healthPaths.has(path) ? health : errorEnvelope(starting);
    response.writeHead(isAlive ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      connection: 'close',
      ...(!isAlive && { 'retry-after': '5' }),
    });
    response.end(JSON.stringify(body));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}
