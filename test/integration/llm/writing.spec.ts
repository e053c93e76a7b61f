import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { summarize, writeFaq, type GenerationChunk } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startServiceWithClient, type ServiceWithClient } from '../../support/service-with-client.js';

interface Asked {
  messages: { content: string }[];
  max_tokens: number;
  min_p?: number;
}

/** An OpenAI-compatible engine whose model writes down the first three words of what it is given, in two pieces. */
class WordEngine {
  readonly asked: Asked[] = [];
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/v1/models')
      return void response.end(JSON.stringify({ data: [{ id: 'writer', max_model_len: 1_024 }] }));
    if (request.url !== '/v1/chat/completions') return void response.writeHead(404).end();
    const body = (await json(request)) as Asked;
    this.asked.push(body);
    const prompt = body.messages[0]?.content ?? '';
    const words =
      prompt
        .split(/### (?:Text|Next part):\n/)[1]
        ?.split(/\s+/)
        .slice(0, 3)
        .join(' ') ?? '';
    const written = prompt.includes('"Q: …"') ? `Q: What of ${words}?\nA: ${words}.` : `${words}.`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of [written.slice(0, 4), written.slice(4)])
      response.write(frame({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }));
    response.write(frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
    response.write(frame({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 3 } }));
    response.end('data: [DONE]\n\n');
  }
}

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

describe('summaries and FAQs of a remote model that can write', () => {
  const engine = new WordEngine();
  let running: ServiceWithClient;
  let client: RpcClient;

  beforeAll(async () => {
    running = await startServiceWithClient('llm', { LLM_ENDPOINT: await engine.start() });
    ({ client } = running);
  });
  afterAll(async () => {
    await running?.stop();
    engine.stop();
  });
  beforeEach(() => engine.asked.splice(0));

  async function gather(chunks: AsyncIterable<GenerationChunk>) {
    const texts: string[] = [];
    let last: GenerationChunk | undefined;
    for await (const chunk of chunks) {
      texts.push(chunk.text);
      last = chunk;
    }
    return { text: texts.join(''), last };
  }
  /** Three paragraphs of sixty words; each begins with its own. */
  const text = ['Amber', 'Basalt', 'Cobalt']
    .map((name) => `${name} ${'is a stone that people dig. '.repeat(10).trim()}`)
    .join('\n\n');

  it('asks once where the text fits, and streams what is written', async () => {
    const { text: summary, last } = await gather(
      client.stream(summarize, { text, language: 'de', max_tokens: 40, min_p: 0.1 }),
    );
    expect(summary).toBe('Amber is a.');
    expect(last).toMatchObject({ finishReason: 'stop', model: 'writer', usage: { promptTokens: 10 } });
    expect(engine.asked).toHaveLength(1);
    expect(engine.asked[0]).toMatchObject({ max_tokens: 40, min_p: 0.1 });
    expect(engine.asked[0]?.messages[0]?.content).toMatch(/Write in German\.\n\n### Text:\nAmber is/);
  });

  it('summarizes pieces, then their summaries', async () => {
    const request = { text, summary_type: 'map_reduce' as const, chunk_size: 65 };
    const { text: summary, last } = await gather(client.stream(summarize, request));
    const prompts = engine.asked.map(({ messages }) => messages[0]!.content);
    expect(prompts.filter((prompt) => prompt.includes('this part of a longer text'))).toHaveLength(3);
    expect(prompts.at(-1)).toMatch(/Amber is a\.\n\nBasalt is a\.\n\nCobalt is a\.$/);
    expect(summary).toBe('Amber is a..');
    expect(last?.usage).toMatchObject({ promptTokens: 40, completionTokens: 12 });
  });

  it('refines a summary piece after piece', async () => {
    const request = { text, summary_type: 'refine' as const, chunk_size: 65 };
    const { text: summary } = await gather(client.stream(summarize, request));
    expect(engine.asked).toHaveLength(3);
    expect(engine.asked[2]?.messages[0]?.content).toContain(
      '### Summary so far:\nBasalt is a.\n\n### Next part:\nCobalt',
    );
    expect(summary).toBe('Cobalt is a.');
  });

  it('writes questions with their answers', async () => {
    const { text: faq } = await gather(client.stream(writeFaq, { text, faq_count: 1 }));
    expect(faq).toBe('Q: What of Amber is a?\nA: Amber is a.');
    expect(engine.asked[0]?.messages[0]?.content).toContain('the most useful question ');
  });
});
