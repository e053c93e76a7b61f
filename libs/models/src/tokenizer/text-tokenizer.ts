import { MegaNestError, type ChatMessage } from '#contracts';
import { AutoTokenizer, env, type PreTrainedTokenizer } from '@xenova/transformers';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ModelLoadError, readJson } from '../model/model-files.js';

// Model folders are resolved by us; the library itself never downloads.
env.allowRemoteModels = false;

/** Characters of a piece whose tokens are counted; the time that a long word takes grows faster than its length. */
const countedAtOnce = 4096;

const addedTokensSchema = z.looseObject({
  added_tokens: z.array(z.object({ content: z.string(), special: z.boolean().default(false) })).default([]),
});

/** Text to token ids, and conversations to prompts, as the model's own files say. */
export class TextTokenizer {
  private constructor(
    private readonly tokenizer: PreTrainedTokenizer,
    private readonly controls: ControlTokens,
  ) {}

  /** Reads tokenizer.json and tokenizer_config.json. Throws ModelLoadError that names a missing file. */
  static async load(directory: string): Promise<TextTokenizer> {
    for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
      const fullPath = path.join(directory, file);
      if (!existsSync(fullPath)) throw new ModelLoadError(`${fullPath} is missing.`);
    }
    const tokenizer = await AutoTokenizer.from_pretrained(directory, { local_files_only: true });
    const { added_tokens: added } = await readJson(directory, 'tokenizer.json', addedTokensSchema);
    return new TextTokenizer(tokenizer, new ControlTokens(added));
  }

  /** Ids of a text that somebody wrote. Names of control tokens in it are letters. */
  encode(text: string): number[] {
    return this.encodePieces(this.controls.mark(text));
  }

  /** Ids of a prompt in which names of control tokens are control tokens, with the marks that the model expects around. */
  encodeMarked(text: string): number[] {
    return this.tokenizer.encode(text, { add_special_tokens: true });
  }

  /** The prompt's ids of a conversation. Control tokens come from the template alone. Errors: as {@link renderChat}. */
  encodeChat(messages: readonly ChatMessage[], kwargs: Readonly<Record<string, unknown>> = {}): number[] {
    return this.encodePieces(this.renderMarked(messages, kwargs));
  }

  /** The prompt of a conversation for {@link countUpTo}. Errors: as {@link renderChat}. */
  renderMarked(messages: readonly ChatMessage[], kwargs: Readonly<Record<string, unknown>> = {}): string {
    return this.render(this.controls.mark(messages), this.controls.mark(kwargs));
  }

  /**
   * About how many tokens a long text has, read no further than it takes to know that they are more than `most`. Texts are cut
   * into pieces for that, so that some tokens too many are counted. The work grows with `most` rather than with the text.
   */
  countUpTo(marked: string, most: number): { tokens: number; characters: number } {
    let [tokens, characters] = [0, 0];
    while (characters < marked.length && tokens <= most) {
      const piece = marked.slice(characters, characters + countedAtOnce);
      tokens += this.encodePieces(piece).length;
      characters += piece.length;
    }
    return { tokens, characters };
  }

  /** Ids and segment ids of two texts, with the marks that the model expects around and between them. */
  encodePair(first: string, second: string): { ids: number[]; segments: number[] } {
    const encoded = this.tokenizer(first, {
      text_pair: second,
      return_tensor: false,
      return_token_type_ids: true,
    });
    const ids = encoded.input_ids;
    return { ids, segments: encoded.token_type_ids ?? ids.map(() => 0) };
  }

  /** The prompt of a conversation, ending where the assistant speaks. Errors: invalid_request without a template. */
  renderChat(messages: readonly ChatMessage[], kwargs: Readonly<Record<string, unknown>> = {}): string {
    return this.render(messages, kwargs);
  }

  private encodePieces(marked: string): number[] {
    const ids: number[] = [];
    for (const piece of this.controls.pieces(marked))
      for (const id of this.tokenizer.encode(piece, { add_special_tokens: false })) ids.push(id);
    return ids;
  }

  /** The server's own options stand behind the caller's variables: none of those reaches the library as an option. */
  private render(messages: readonly ChatMessage[], kwargs: Readonly<Record<string, unknown>>): string {
    if (!this.tokenizer.chat_template) {
      throw new MegaNestError('invalid_request', {
        detail: 'This model has no chat template; send a prompt instead of messages.',
        param: 'messages',
      });
    }
    try {
      return this.tokenizer.apply_chat_template(messages.map(templateMessage), {
        ...kwargs,
        add_generation_prompt: true,
        tokenize: false,
        chat_template: undefined,
        documents: undefined,
        tokenizer_kwargs: undefined,
      });
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      throw new MegaNestError('invalid_request', {
        detail: `The model's chat template refuses these messages: ${detail}`,
        param: 'messages',
        cause: error,
      });
    }
  }

  /** The chat template; of several the one for tools. Undefined where the model has none. */
  get chatTemplate(): string | undefined {
    const given: unknown = this.tokenizer.chat_template;
    const named = Array.isArray(given) ? (given as { name: string; template: string }[]) : [];
    const forTools = named.find(({ name }) => name === 'tool_use') ?? named[0];
    return typeof given === 'string' ? given : forTools?.template;
  }

  /** Most tokens the tokenizer was configured for; exporters write an absurdly large number for "unlimited". */
  get maxLength(): number {
    return this.tokenizer.config.model_max_length ?? Number.POSITIVE_INFINITY;
  }
}

/** A noncharacter of Unicode, which no text that is exchanged contains. */
const cut = '\uFDD0';

/** Names in the form of control tokens that some vocabularies do not declare special. */
const looksLikeControl = /^<[|｜].*[|｜]>$|^<(?:start|end)_of_turn>$/;

/** A token of tokenizer.json beside the vocabulary. */
export interface AddedToken {
  readonly content: string;
  readonly special: boolean;
}

/**
 * The control tokens of a vocabulary, such as `<|im_end|>`. In a text that somebody wrote their names are ordinary
 * letters: such a text must not be able to end its turn and begin another one.
 */
class ControlTokens {
  private readonly pattern: RegExp | undefined;

  constructor(added: readonly AddedToken[]) {
    const names = added
      .filter(({ content, special }) => content.length > 1 && (special || looksLikeControl.test(content)))
      .map(({ content }) => content);
    if (names.length === 0) return;
    const longestFirst = names.toSorted((one, other) => other.length - one.length);
    const starts = [...new Set(names.map((name) => String.fromCodePoint(name.codePointAt(0)!)))];
    // The look ahead spares most positions of a text the comparison with hundreds of names.
    const source = `(?=${starts.map(escape).join('|')})(?:${longestFirst.map(escape).join('|')})`;
    this.pattern = new RegExp(source, 'gu');
  }

  /** The value with a cut inside each name of a control token, in all texts of it. */
  mark<Value>(value: Value): Value {
    return this.marked(value) as Value;
  }

  /** The pieces of a marked text. None of them holds a name, but those that were written without {@link mark}. */
  pieces(text: string): string[] {
    return text.split(cut);
  }

  private marked(value: unknown): unknown {
    if (typeof value === 'string') return this.markedText(value);
    if (Array.isArray(value)) return value.map((item) => this.marked(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.markedText(key), this.marked(item)]),
    );
  }

  private markedText(given: string): string {
    let text = given.includes(cut) ? given.replaceAll(cut, '') : given;
    if (!this.pattern) return text;
    // What is left of a name may be a name itself.
    for (let before = ''; before !== text;) {
      before = text;
      text = text.replace(this.pattern, (name) => {
        const [first = ''] = name;
        return `${first}${cut}${name.slice(first.length)}`;
      });
    }
    return text;
  }
}

function escape(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`);
}

/** A turn as chat templates read it: OpenAI's names, and the arguments of calls as values rather than text. */
export interface TemplateMessage {
  role: string;
  content: string;
  name?: string;
  tool_calls?: {
    id: string;
    type: 'function';
    function: { name: string; arguments: unknown };
  }[];
  tool_call_id?: string;
  reasoning_content?: string;
}

/** Templates of open models know `system`; `developer` is OpenAI's later name for the same turn. */
function templateMessage(message: ChatMessage): TemplateMessage {
  const { role, content, name, toolCalls, toolCallId, reasoning } = message;
  return {
    role: role === 'developer' ? 'system' : role,
    content,
    ...(name !== undefined && { name }),
    ...(toolCalls?.length && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: 'function' as const,
        function: { name: call.name, arguments: argumentsOf(call.input) },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
  };
}

/** Templates write arguments as JSON; what is no JSON is the raw input of a custom tool. */
function argumentsOf(input: string): unknown {
  try {
    return JSON.parse(input === '' ? '{}' : input);
  } catch {
    return { input };
  }
}

/** Bytes to text as they arrive: a character appears when its last byte has come, never in halves. */
export class Detokeniser {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  /** @param spacesToDrop Spaces to leave out at the very start, as the model's own decoding does. */
  constructor(private spacesToDrop = 0) {}

  push(bytes: Uint8Array): string {
    const text = this.decoder.decode(bytes, { stream: true });
    if (this.spacesToDrop === 0 || text === '') return text;
    const leading = text.length - text.replace(/^ +/, '').length;
    const dropped = Math.min(leading, this.spacesToDrop);
    this.spacesToDrop = leading === text.length ? this.spacesToDrop - dropped : 0;
    return text.slice(dropped);
  }
}
