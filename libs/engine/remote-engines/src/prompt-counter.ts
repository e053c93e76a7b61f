import { MegaNestError, type ChatMessage } from '#platform/contracts';
import { z } from 'zod';
import type { EngineKind } from './engine-kind.js';
import { remoteMessages } from './remote-messages.js';
import type { RemoteServer } from './remote-server.js';

/** A conversation, or a rendered prompt. */
type Prompt = readonly ChatMessage[] | string;
type Variables = Readonly<Record<string, unknown>> | undefined;

/** Timeout of a request for the beginning of an answer. */
const probeMs = 5_000;

/** The end of a prompt after which the model goes on with its reasoning. */
const opensThought = /(?:<think>|<thinking>|\[THINK\]|<seed:think>|◁think▷)\s*$/;

/** Counts the tokens of prompts by the tokenizer of an engine: of vLLM and engines with its `/tokenize`, or of llama.cpp. */
export class PromptCounter {
  /** Requests that count in one of the ways of an engine, best first; empty if it has none. */
  #ways: readonly Way[];

  constructor(
    private readonly server: RemoteServer,
    private readonly model: string,
    private readonly kind: EngineKind,
  ) {
    this.#ways = kind === 'llama.cpp' ? [countInput, countRendered] : [countAsVllm];
  }

  /** Returns undefined if the engine cannot count. Errors: service_unavailable. */
  async count(prompt: Prompt, variables?: Variables): Promise<number | undefined> {
    const asking = { server: this.server, model: this.model, prompt, variables };
    for (const way of this.#ways) {
      try {
        return await way(asking);
      } catch (error) {
        if (!(error instanceof MegaNestError) || error.code === 'service_unavailable') throw error;
        // Only an unknown path turns a way off; another refusal concerns one request only.
        if (!isUnknownPath(error)) return undefined;
        this.#ways = this.#ways.filter((one) => one !== way);
      }
    }
    return undefined;
  }

  /** Whether the chat template ends prompts within the model's reasoning; undefined if the engine does not tell. */
  async opensThinking(): Promise<boolean | undefined> {
    const { kind } = this;
    if (kind !== 'vllm' && kind !== 'sglang' && kind !== 'llama.cpp') return undefined;
    const messages = [{ role: 'user', content: 'Hello' }];
    const ask = async <Schema extends z.ZodType>(path: string, body: object, schema: Schema) =>
      this.server.json({ path, body, signal: AbortSignal.timeout(probeMs) }, schema);
    try {
      if (kind !== 'llama.cpp') {
        const body = { model: this.model, messages, return_token_strs: true };
        const { token_strs } = await ask(
          '/tokenize',
          body,
          z.looseObject({ token_strs: z.array(z.string()) }),
        );
        return opensThought.test(token_strs.slice(-8).join('').replaceAll('Ċ', '\n').replaceAll('Ġ', ' '));
      }
      return opensThought.test((await ask('/apply-template', { messages }, renderedSchema)).prompt);
    } catch (error) {
      if (error instanceof MegaNestError) return undefined;
      throw error;
    }
  }
}

interface Asking {
  server: RemoteServer;
  model: string;
  prompt: Prompt;
  variables: Variables;
}

type Way = (asking: Asking) => Promise<number>;

const renderedSchema = z.looseObject({ prompt: z.string() });

function inputOf({ prompt, variables, model }: Asking): object {
  const input = typeof prompt === 'string' ? { prompt } : { messages: remoteMessages(prompt) };
  return { model, ...input, ...(variables && { chat_template_kwargs: variables }) };
}

async function countAsVllm(asking: Asking): Promise<number> {
  const schema = z.looseObject({ count: z.int() });
  return (await asking.server.json({ path: '/tokenize', body: inputOf(asking) }, schema)).count;
}

/** llama.cpp since 2026. */
async function countInput(asking: Asking): Promise<number> {
  if (typeof asking.prompt === 'string') return countRendered(asking);
  const schema = z.looseObject({ input_tokens: z.int() });
  const path = '/v1/chat/completions/input_tokens';
  return (await asking.server.json({ path, body: inputOf(asking) }, schema)).input_tokens;
}

/** llama.cpp: renders the prompt and counts its tokens. */
async function countRendered(asking: Asking): Promise<number> {
  const { server, prompt } = asking;
  const content =
    typeof prompt === 'string'
      ? prompt
      : (await server.json({ path: '/apply-template', body: inputOf(asking) }, renderedSchema)).prompt;
  const body = { content, add_special: true, parse_special: true };
  const schema = z.looseObject({ tokens: z.array(z.unknown()) });
  return (await server.json({ path: '/tokenize', body }, schema)).tokens.length;
}

/** True if the engine lacks the path or uses it for something else. A status 500 may be the fault of one prompt. */
function isUnknownPath({ code, message }: MegaNestError): boolean {
  return code === 'bad_upstream' && !message.includes('answered 500');
}
