import type { ChatMessage } from '#platform/contracts';
import type { TokenCodec } from '#engine/generation';
import { z } from 'zod';
import type { EngineKind } from './engine-kind.js';
import { remoteMessages } from './remote-messages.js';
import type { RemoteServer } from './remote-server.js';

const tokensSchema = z.looseObject({ tokens: z.array(z.int()) });
const renderedSchema = z.looseObject({ prompt: z.string() });

/** The tokens of an engine's model, by its own API. Undefined for an engine that is not known to have one. */
export function remoteCodec(server: RemoteServer, model: string, kind: EngineKind): TokenCodec | undefined {
  if (kind === 'llama.cpp') return new LlamaCodec(server);
  return kind === 'vllm' || kind === 'sglang' ? new VllmCodec(server, model) : undefined;
}

/** The API of vLLM, which SGLang has taken over. */
class VllmCodec implements TokenCodec {
  constructor(
    private readonly server: RemoteServer,
    private readonly model: string,
  ) {}

  encode(prompt: string, { special }: { special: boolean }): Promise<number[]> {
    return this.#tokens({ prompt, add_special_tokens: special });
  }

  encodeChat(messages: readonly ChatMessage[], chat_template_kwargs?: Readonly<Record<string, unknown>>) {
    return this.#tokens({
      messages: remoteMessages(messages),
      ...(chat_template_kwargs && { chat_template_kwargs }),
    });
  }

  async decode(tokens: readonly number[]): Promise<string> {
    const body = { model: this.model, tokens };
    const schema = z.looseObject({ prompt: z.string().optional(), text: z.string().optional() });
    const { prompt, text } = await this.server.json({ path: '/detokenize', body }, schema);
    return prompt ?? text ?? '';
  }

  textOf(): undefined {
    return undefined;
  }

  async #tokens(fields: object): Promise<number[]> {
    const body = { model: this.model, ...fields };
    return (await this.server.json({ path: '/tokenize', body }, tokensSchema)).tokens;
  }
}

class LlamaCodec implements TokenCodec {
  constructor(private readonly server: RemoteServer) {}

  async encode(content: string, { special }: { special: boolean }): Promise<number[]> {
    const body = { content, add_special: special, parse_special: special };
    return (await this.server.json({ path: '/tokenize', body }, tokensSchema)).tokens;
  }

  async encodeChat(messages: readonly ChatMessage[], kwargs?: Readonly<Record<string, unknown>>) {
    const body = { messages: remoteMessages(messages), ...(kwargs && { chat_template_kwargs: kwargs }) };
    const { prompt } = await this.server.json({ path: '/apply-template', body }, renderedSchema);
    return this.encode(prompt, { special: true });
  }

  async decode(tokens: readonly number[]): Promise<string> {
    const schema = z.looseObject({ content: z.string() });
    return (await this.server.json({ path: '/detokenize', body: { tokens } }, schema)).content;
  }

  textOf(): undefined {
    return undefined;
  }
}
