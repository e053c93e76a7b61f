import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/** Gives the requests of one address to several servers in turn, as a load balancer in front of gateways does. */
export interface Balancer {
  /** http://127.0.0.1:… */
  url: string;
  close(): Promise<void>;
}

/**
 * Starts a balancer for servers at `urls`; it skips servers that refuse connections, and passes streams, aborts and
 * WebSockets on.
 */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  const targets = urls.map((url) => new URL(url));
  let turn = 0;
  const next = () => nextListening(targets, turn++);
  const server = createServer(
    { requestTimeout: 0, keepAliveTimeout: 0 },
    (incoming, outgoing) => void next().then((target) => forward(target, agent, incoming, outgoing)),
  );
  server.on(
    'upgrade',
    (incoming, socket, head) => void next().then((target) => tunnel(target, incoming, socket, head)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await once(server, 'close');
    },
  };
}

/** Returns the server whose turn it is, or the next one that accepts connections. */
async function nextListening(targets: readonly URL[], turn: number): Promise<URL> {
  for (let index = 0; index < targets.length; index += 1) {
    const target = targets[(turn + index) % targets.length]!;
    const socket = connect(Number(target.port), target.hostname);
    const listens = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (listens) return target;
  }
  return targets[turn % targets.length]!;
}

function forward(target: URL, agent: Agent, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url: path, rawHeaders: headers } = incoming;
  const { hostname, port } = target;
  const upstream = request({ hostname, port, method, path, headers, agent });
  upstream.on('response', (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, withoutPatience(response));
    // The head of a stream leaves before its first event.
    outgoing.flushHeaders();
    response.pipe(outgoing);
    response.on('error', () => outgoing.destroy());
    response.on('aborted', () => outgoing.destroy());
  });
  upstream.on('error', () => outgoing.destroy());
  outgoing.on('close', () => {
    // A server may answer before the body has ended: the rest is read, or the client never gets to the end of its
    // request.
    incoming.unpipe(upstream).resume();
    upstream.destroy();
  });
  incoming.pipe(upstream);
}

/**
 * The headers of a response without the time that its server keeps idle connections for: this one keeps them itself.
 */
function withoutPatience({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_text, index) => rawHeaders[index - (index % 2)]?.toLowerCase() !== 'keep-alive');
}

function tunnel(
  target: URL,
  { method, url, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const upstream = connect(Number(target.port), target.hostname, () => {
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let index = 0; index < rawHeaders.length; index += 2)
      lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
    upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
    upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
  });
  const end = () => {
    upstream.destroy();
    socket.destroy();
  };
  for (const side of [upstream, socket]) side.on('error', end).on('close', end);
}
