/** `npx meganest mcp`: the MCP server of a running MegaNest on standard input and output. */
import { EnvironmentError } from '#platform/service-kit';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { readGatewayOptions } from '../gateway-options.js';
import { Bridge } from './bridge.js';

const usage = `Usage: npx meganest mcp [options]

Connects an MCP client that starts its servers as commands with a running MegaNest. Clients that know Streamable HTTP
use the address <gateway>/mcp themselves.

Options:
  --url <address>         gateway [http://127.0.0.1:8888]
  --key <API key>         API key [the first of API_KEYS]
  --help                  show this text`;

async function main(): Promise<void> {
  const options = readGatewayOptions(usage);
  if (!options) return console.log(usage);
  const { key } = options;
  const url = new URL('/mcp', options.url);
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const bridge = new Bridge({
    client: new StdioServerTransport(),
    connect: () => new StreamableHTTPClientTransport(url, { requestInit: { headers } }),
    lostSession: (error) => error instanceof StreamableHTTPError && error.code === 404,
    warn: (problem) => console.error(problem),
  });
  // Standard output belongs to the protocol. The process ends when the client closes its input.
  process.stdin.once('end', () => process.exit(0));
  await bridge.start();
}

try {
  await main();
} catch (error) {
  console.error(error instanceof EnvironmentError ? error.message : error);
  process.exitCode = 1;
}
