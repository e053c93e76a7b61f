/** What a snippet needs to reach this gateway. */
export interface Connection {
  /** Address of the gateway without a slash at the end. */
  address: string;
  /** The caller's key. */
  key: string;
  /** A mega service or a model that answers. */
  model: string;
}

/** Something to paste for a client. */
export interface Snippet {
  client: string;
  /** The part of the text that can be pasted as it is. */
  code: string;
  /** Where the code belongs, if it is not a command: the name of a file. */
  file?: string;
}

/** The snippets for the usual clients, as docs/clients describes them. */
export function snippetsOf({ address, key, model }: Connection): Snippet[] {
  const api = `${address}/v1`;
  return [
    {
      client: 'Open WebUI',
      code: `OPENAI_API_BASE_URL=${quoted(api)} OPENAI_API_KEY=${quoted(key)} open-webui serve`,
    },
    {
      client: 'Claude Code',
      code: [
        `ANTHROPIC_BASE_URL=${quoted(address)} ANTHROPIC_API_KEY=${quoted(key)} \\`,
        `  claude --model ${quoted(model)}`,
      ].join('\n'),
    },
    { client: 'Codex', file: '~/.codex/config.toml', code: codex(api, key, model) },
    { client: 'Python (openai)', code: python(api, key, model) },
    { client: 'Ollama (Python)', code: ollama(address, key, model) },
    {
      client: 'MCP (Claude Code)',
      code: [
        `claude mcp add --transport http meganest ${quoted(`${address}/mcp`)} \\`,
        `  --header ${quoted(`Authorization: Bearer ${key}`)}`,
      ].join('\n'),
    },
    { client: 'MCP (mcp.json)', file: 'mcp.json', code: mcpJson(address, key) },
  ];
}

function codex(api: string, key: string, model: string): string {
  return [
    `model = ${JSON.stringify(model)}`,
    'model_provider = "meganest"',
    '',
    '[model_providers.meganest]',
    'name = "MegaNest"',
    `base_url = ${JSON.stringify(api)}`,
    'wire_api = "responses"',
    `experimental_bearer_token = ${JSON.stringify(key)}`,
  ].join('\n');
}

function python(api: string, key: string, model: string): string {
  return [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(api)}, api_key=${JSON.stringify(key)})`,
    'answer = client.chat.completions.create(',
    `    model=${JSON.stringify(model)},`,
    '    messages=[{"role": "user", "content": "What does MegaNest do?"}],',
    ')',
    'print(answer.choices[0].message.content)',
  ].join('\n');
}

function ollama(address: string, key: string, model: string): string {
  return [
    'from ollama import Client',
    '',
    `client = Client(host=${JSON.stringify(address)}, headers={"Authorization": ${JSON.stringify(`Bearer ${key}`)}})`,
    'answer = client.chat(',
    `    model=${JSON.stringify(model)},`,
    '    messages=[{"role": "user", "content": "What does MegaNest do?"}],',
    ')',
    'print(answer.message.content)',
  ].join('\n');
}

function mcpJson(address: string, key: string): string {
  const server = { type: 'http', url: `${address}/mcp`, headers: { Authorization: `Bearer ${key}` } };
  return JSON.stringify({ mcpServers: { meganest: server } }, null, 2);
}

/** A word of a shell: quoted if it has characters other than those of names and addresses. */
function quoted(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
