import { Pool } from 'undici';

/** One connection pool to a server with OpenAI's chat completions. */
export class ChatClient {
  private readonly pool: Pool;

  constructor(
    url: string,
    private readonly model: string,
  ) {
    this.pool = new Pool(url, { connections: 64, pipelining: 1 });
  }

  /** Runs one chat to its end; returns its body. Throws if the status is not 200. */
  async chat(content: string, parameters: Readonly<Record<string, unknown>>): Promise<string> {
    const body = JSON.stringify({ model: this.model, messages: [{ role: 'user', content }], ...parameters });
    const headers = { 'content-type': 'application/json' };
    const answer = await this.pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`);
    return text;
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}
