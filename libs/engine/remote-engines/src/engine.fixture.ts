import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EngineRequest {
  path: string;
  headers: IncomingMessage['headers'];
  /** Body of a JSON request. */
  body: Record<string, unknown>;
  /** Body of a multipart request. */
  form?: FormData;
}

/** An HTTP engine for tests; the path selects the answer. */
export interface TestEngine {
  url: string;
  requests: EngineRequest[];
  close(): Promise<void>;
}

export type Answer = (response: ServerResponse, request: EngineRequest) => void | Promise<void>;

/** Starts an engine on a random port; a path without an answer returns 404. */
export async function startEngine(answers: Record<string, Answer>): Promise<TestEngine> {
  const requests: EngineRequest[] = [];
  const server = createServer((message, response) => {
    void (async () => {
      const request = await readRequest(message);
      requests.push(request);
      const answer = answers[request.path];
      if (answer) await answer(response, request);
      else response.writeHead(404).end('no such path');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function readRequest(message: IncomingMessage): Promise<EngineRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  const { url: path = '', headers } = message;
  const type = headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) {
    const init = { method: 'POST', headers: { 'content-type': type }, body: Buffer.concat(pieces) };
    const form = await new Request('http://localhost', init).formData();
    return { path, headers, body: {}, form };
  }
  const text = Buffer.concat(pieces).toString();
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  return { path, headers, body };
}
