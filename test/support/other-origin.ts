import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** A web server of somebody else, whose page has OpenAI's client at `/openai.js`. */
export interface OtherOrigin {
  origin: string;
  close(): void;
}

/** Starts it on a free port, under a name that is another site than the gateway's. */
export async function startOtherOrigin(): Promise<OtherOrigin> {
  const bundle = await rolldown({
    input: fileURLToPath(import.meta.resolve('openai')),
    platform: 'browser',
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  const script = output[0].code;
  const server = createServer((request, response) => {
    const isScript = request.url === '/openai.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><title>Another origin</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
