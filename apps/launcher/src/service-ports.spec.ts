import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { readLauncherEnvironment } from './environment.js';
import { claimPorts, hostOf, reachableHost } from './service-ports.js';

const anyPort = {
  EMBEDDING_PORT: '0',
  RETRIEVAL_PORT: '0',
  RERANKING_PORT: '0',
  LLM_PORT: '0',
  DATAPREP_PORT: '0',
  GATEWAY_PORT: '0',
};

it('gives every service a port of its own', async () => {
  const ports = Object.values(await claimPorts(readLauncherEnvironment(anyPort)));
  expect(ports.every((port) => port > 0)).toBe(true);
});

it('names the service and the number of a port in use', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const claim = claimPorts(readLauncherEnvironment({ ...anyPort, RERANKING_PORT: String(port) }));
  await expect(claim).rejects.toThrow(
    `port ${port} (reranking) is in use: stop the program that uses it, or set RERANKING_PORT.`,
  );
  server.close();
});

it('refuses one port for two services', async () => {
  const environment = readLauncherEnvironment({ ...anyPort, LLM_PORT: '7001', DATAPREP_PORT: '7001' });
  await expect(claimPorts(environment)).rejects.toThrow('llm and dataprep both have port 7001');
});

it('knows where a server on every address is reached', () => {
  expect(['0.0.0.0', '::', '::1', '127.0.0.1'].map(reachableHost)).toEqual([
    '127.0.0.1',
    '[::1]',
    '[::1]',
    '127.0.0.1',
  ]);
});

it('publishes the gateway alone, unless the others are told to listen elsewhere too', () => {
  const opened = readLauncherEnvironment({ HOST: '0.0.0.0' });
  expect(['gateway', 'llm'].map((name) => hostOf(name, opened))).toEqual(['0.0.0.0', '127.0.0.1']);
  const both = readLauncherEnvironment({ HOST: '0.0.0.0', SERVICES_HOST: '10.0.0.1' });
  expect(hostOf('llm', both)).toBe('10.0.0.1');
});
