import { services } from '#local-stack';

const ports = services.map(({ portVariable, defaultPort }) => `${portVariable}=${defaultPort}`).join(' ');

/** What `npm start -- --help` prints. */
export const helpText = `Usage: npm start [-- <option>]

Starts MegaNest: every service, with an embedded Postgres and a NATS server unless others are named. Ctrl-C stops it.

Options:
  --help           this text
  --version        the version
  --print-config   every variable with the value that it would have, secrets masked

Settings are environment variables, e.g. GATEWAY_PORT=9999 npm start. The usual ones:
  MEGANEST_PROFILE=bundled    hub-small, hub or hub-large fetch real models from the Hugging Face hub
  LLM_MODEL_ID                a bundled name, a folder or a hub id (organization/name)
  LLM_ENDPOINT                a server with OpenAI's API in place of a local model, e.g. http://localhost:11434/v1
  API_KEYS                    comma list of keys; needed for a public HOST
  HOST=127.0.0.1              address to listen on
  MEGANEST_DATA_DIR=.data     where everything is stored
  NATS_URL, DATABASE_URL      servers of your own
  ${ports.replaceAll(/(.{60,100}?) /g, '$1\n  ')}

docs/configuration.md lists every variable; npm run doctor looks for faults; docs/troubleshooting.md says what to do.`;
