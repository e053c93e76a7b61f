/**
 * Baseline of HTTP and NATS alone: a node:http server that forwards a chat over NATS and streams the reply, and a
 * responder that answers at once, each in a process of its own, without validation, logs, metrics or limits.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { builtFile } from '#platform/foundation';
import { connect, type NatsConnection } from '@nats-io/transport-node';

const subject = 'bench.bare';

export interface BareRelay {
  /** http://127.0.0.1:… */
  readonly url: string;
  stop(): void;
}

/** Starts both processes on the given NATS server. */
export async function startBareRelay(natsUrl: string): Promise<BareRelay> {
  const responder = await startRole('responder', natsUrl);
  const relay = await startRole('relay', natsUrl);
  return {
    url: relay.said,
    stop: () => [responder, relay].forEach(({ child }) => child.disconnect()),
  };
}

async function startRole(role: Role, natsUrl: string): Promise<{ child: ChildProcess; said: string }> {
  const child = fork(builtFile('bare-relay'), [role, natsUrl]);
  const [said] = (await once(child, 'message')) as [string];
  return { child, said };
}

const roles = {
  responder: async (nats: NatsConnection) => {
    const chunk = { text: 'x', finishReason: 'length', usage: { promptTokens: 20, completionTokens: 1 } };
    nats.subscribe(subject, { callback: (_error, message) => void message.respond(JSON.stringify(chunk)) });
    await nats.flush();
    return 'ready';
  },
  relay: async (nats: NatsConnection) => {
    const server = createServer((request, response) => void relay(nats, request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
};
type Role = keyof typeof roles;

async function relay(
  nats: NatsConnection,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await json(request);
  const answer = await nats.request(subject, JSON.stringify(body));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${answer.string()}\n\ndata: [DONE]\n\n`);
}

const [, program, role, natsUrl] = process.argv;
if (program === builtFile('bare-relay') && natsUrl !== undefined) {
  const nats = await connect({ servers: natsUrl });
  process.send?.(await roles[role as Role](nats));
  process.once('disconnect', () => process.exit());
}
