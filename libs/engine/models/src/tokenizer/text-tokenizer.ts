import { MegaNestError, type ChatMessage } from '#platform/contracts';
import { AutoTokenizer, env, type PreTrainedTokenizer } from '@xenova/transformers';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { ModelLoadError, readJson, readOptionalJson } from '../model/model-files.js';
import { needsParts, type TemplateMessage, templateMessage } from './template-message.js';

// This package resolves model folders; the library must not download anything.
env.allowRemoteModels = false;

/** Characters per piece when counting tokens; the time for a long word grows faster than its length. */
const countedAtOnce = 4096;

const addedTokensSchema = z.looseObject({
  added_tokens: z.array(z.object({ content: z.string(), special: z.boolean().default(false) })).default([]),
});

/** Converts text to token ids and conversations to prompts, as the model's files define. */
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
    tokenizer.chat_template ??= await readChatTemplate(directory);
    const { added_tokens: added } = await readJson(directory, 'tokenizer.json', addedTokensSchema);
    return new TextTokenizer(tokenizer, new ControlTokens(added));
  }

  /** Returns the ids of a text from a caller. Names of control tokens in it are ordinary text. */
  encode(text: string): number[] {
    return this.encodePieces(this.controls.mark(text));
  }

  /** Returns the ids of a prompt with control tokens, between the special tokens that the model expects. */
  encodeMarked(text: string): number[] {
    return this.tokenizer.encode(text, { add_special_tokens: true });
  }

  /**
   * Returns the ids of a conversation's prompt. Only the template adds control tokens. `images`: texts with control
   * tokens that replace the template's marks of images, in their order. Errors: {@link renderChat}; invalid_request if
   * the template has another number of marks.
   */
  encodeChat(
    messages: readonly ChatMessage[],
    kwargs: Readonly<Record<string, unknown>> = {},
    images: readonly string[] = [],
  ): number[] {
    const marked = this.renderMarked(messages, kwargs);
    return this.encodePieces(images.length > 0 ? withImages(marked, images) : marked);
  }

  /** Renders the prompt of a conversation for {@link countUpTo}. Errors: see {@link renderChat}. */
  renderMarked(messages: readonly ChatMessage[], kwargs: Readonly<Record<string, unknown>> = {}): string {
    return this.render(this.controls.mark(this.templateMessages(messages)), this.controls.mark(kwargs));
  }

  /**
   * Counts the tokens of a long text approximately, and stops once there are more than `most`. Each cut between two
   * pieces may add a token to the count. The time grows with `most`, not with the length of the text.
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

  /** Returns the ids and segment ids of two texts, with the special tokens that the model expects. */
  encodePair(first: string, second: string): { ids: number[]; segments: number[] } {
    const encoded = this.tokenizer(first, {
      text_pair: second,
      return_tensor: false,
      return_token_type_ids: true,
    });
    const ids = encoded.input_ids;
    return { ids, segments: encoded.token_type_ids ?? ids.map(() => 0) };
  }

  /** Renders a prompt up to the start of the assistant's turn. Errors: invalid_request without a template, or by it. */
  renderChat(messages: readonly ChatMessage[], kwargs: Readonly<Record<string, unknown>> = {}): string {
    return this.render(this.templateMessages(messages), kwargs);
  }

  private templateMessages(messages: readonly ChatMessage[]): TemplateMessage[] {
    const wantsParts = needsParts(this.chatTemplate ?? '');
    return messages.map((message) => templateMessage(message, { wantsParts }));
  }

  private encodePieces(marked: string): number[] {
    const ids: number[] = [];
    for (const piece of this.controls.pieces(marked))
      for (const id of this.tokenizer.encode(piece, { add_special_tokens: false })) ids.push(id);
    return ids;
  }

  /** The server's options follow the caller's variables and override them, so that a caller cannot set an option. */
  private render(messages: TemplateMessage[], kwargs: Readonly<Record<string, unknown>>): string {
    if (!this.tokenizer.chat_template) {
      throw new MegaNestError('invalid_request', {
        detail: 'This model has no chat template; send a prompt instead of messages.',
        param: 'messages',
      });
    }
    try {
      return this.tokenizer.apply_chat_template(messages, {
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

  /** The chat template; of several, the one for tools. Undefined if the model has none. */
  get chatTemplate(): string | undefined {
    const given: unknown = this.tokenizer.chat_template;
    const named = Array.isArray(given) ? (given as { name: string; template: string }[]) : [];
    const forTools = named.find(({ name }) => name === 'tool_use') ?? named[0];
    return typeof given === 'string' ? given : forTools?.template;
  }

  /** Maximum number of tokens in the tokenizer's configuration; exporters write a huge number for "unlimited". */
  get maxLength(): number {
    return this.tokenizer.config.model_max_length ?? Number.POSITIVE_INFINITY;
  }
}

const templateFileSchema = z.looseObject({ chat_template: z.string() });

/** Reads the chat template of a model whose tokenizer_config.json has none; null if there is not any. */
async function readChatTemplate(directory: string): Promise<string | null> {
  const file = path.join(directory, 'chat_template.jinja');
  if (existsSync(file)) return readFile(file, 'utf8');
  const stored = await readOptionalJson(directory, 'chat_template.json', templateFileSchema);
  return stored?.chat_template ?? null;
}

/** The mark that templates of vision-language models write for an image. */
const imageMark = '<image>';

/** Replaces the marks of images. A mark in a caller's text has a cut inside. */
function withImages(marked: string, images: readonly string[]): string {
  const texts = marked.split(imageMark);
  if (texts.length - 1 !== images.length) {
    const detail = `The model's chat template shows ${texts.length - 1} of the ${images.length} images.`;
    throw new MegaNestError('invalid_request', { detail, param: 'messages' });
  }
  return texts.map((text, index) => text + (images[index] ?? '')).join('');
}

/** A noncharacter of Unicode, which does not occur in interchanged text. */
const cut = '\uFDD0';

/** Form of the names of control tokens; some vocabularies do not declare them as special. */
const looksLikeControl = /^<[|｜].*[|｜]>$|^<(?:start|end)_of_turn>$/;

/** An added token of tokenizer.json. */
export interface AddedToken {
  readonly content: string;
  readonly special: boolean;
}

/**
 * The control tokens of a vocabulary, such as `<|im_end|>`. Their names in a caller's text are ordinary text, so that
 * the text cannot end its turn and begin another one.
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
    // The lookahead avoids the comparison with hundreds of names at most positions of a text.
    const source = `(?=${starts.map(escape).join('|')})(?:${longestFirst.map(escape).join('|')})`;
    this.pattern = new RegExp(source, 'gu');
  }

  /** Returns a copy of the value with a cut inside each name of a control token in its texts. */
  mark<Value>(value: Value): Value {
    return this.marked(value) as Value;
  }

  /** Splits a marked text at its cuts. Only control tokens that were added after {@link mark} remain whole. */
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
    // The rest of a name may be a name itself.
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
  return text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`);
}

/** Decodes bytes to text as they arrive. A character is returned when its last byte has arrived. */
export class Detokenizer {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  /** @param spacesToDrop Number of spaces to drop at the start, as the model's own decoder does. */
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
