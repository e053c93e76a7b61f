import type { FastifyInstance, FastifyRequest } from 'fastify';

interface Route {
  method: string;
  pattern: RegExp;
}

/** The methods that a server takes on each path, for the `Allow` of a 405. */
export class RouteMethods {
  readonly #routes: Route[] = [];

  add(method: string, url: string): void {
    // The route for all that no other one takes says nothing of a path.
    if (url === '*' || url === '/*') return;
    this.#routes.push({ method, pattern: patternOf(url) });
  }

  of(path: string): string[] {
    const matching = this.#routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.map(({ method }) => method))];
  }
}

/** `/v1/files/:id` and `/v1/models/*` as Fastify reads them. */
function patternOf(url: string): RegExp {
  const plain = url.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(`^${plain.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}

/** Notes each route that is added from now on. */
export function noteRoutes(server: FastifyInstance): void {
  const routes = new RouteMethods();
  server.decorate('routeMethods', routes);
  server.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.add(each, url);
  });
}

/** The other methods that a request's path takes; none where the path does not exist. */
export function otherMethods({ method, url, server }: FastifyRequest): string[] {
  const path = url.split('?')[0] ?? '';
  const methods = server.routeMethods?.of(path) ?? [];
  if (server.postPaths?.has(path)) methods.push('POST');
  // A GET that is refused here is that of a WebSocket's path, whose HEAD is of no use either.
  const refused = method === 'GET' ? ['GET', 'HEAD'] : [method];
  return [...new Set(methods)].filter((each) => !refused.includes(each));
}

declare module 'fastify' {
  interface FastifyInstance {
    routeMethods?: RouteMethods;
    /** Paths that take a POST by a route for many of them, which the server itself cannot tell apart. */
    postPaths?: { has(path: string): boolean };
  }
}
