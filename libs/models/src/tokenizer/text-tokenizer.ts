import { AutoTokenizer, env, type PreTrainedTokenizer } from '@xenova/transformers';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { MegaNestError, type ChatMessage } from '#contracts';
import { z } from 'zod';
import { readJson } from '../model/json-file.js';
import { ModelLoadError } from '../model-load-error.js';
import { ControlTokens } from './control-tokens.js';
import { templateMessage } from './template-message.js';

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
