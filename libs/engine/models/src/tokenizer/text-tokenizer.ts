import { MegaNestError, type ChatMessage } from '#platform/contracts';
import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { readJson } from '../model/model-files.js';
import { ChatTemplate, templateConfigSchema } from './chat-template.js';
import { ControlTokens } from './control-tokens.js';
import { needsParts, type TemplateMessage, templateMessage } from './template-message.js';

/** Characters per piece when counting tokens; the time for a long word grows faster than its length. */
const countedAtOnce = 4096;

const tokenizerSchema = z.looseObject({
  added_tokens: z
    .array(z.looseObject({ content: z.string(), special: z.boolean().default(false) }))
    .default([]),
});
const configSchema = templateConfigSchema.extend({ model_max_length: z.number().nullish() });

/** What the files of a model say about its texts. */
interface TokenizerParts {
  readonly tokenizer: Tokenizer;
  readonly controls: ControlTokens;
  readonly template: ChatTemplate | undefined;
  readonly maxLength: number;
}

/** Converts text to token ids and conversations to prompts, as the model's files define. */
export class TextTokenizer {
  private readonly tokenizer: Tokenizer;
  private readonly controls: ControlTokens;
  private readonly template: ChatTemplate | undefined;
  /** Maximum number of tokens in the tokenizer's configuration; exporters write a huge number for "unlimited". */
  readonly maxLength: number;

  private constructor({ tokenizer, controls, template, maxLength }: TokenizerParts) {
    this.tokenizer = tokenizer;
    this.controls = controls;
    this.template = template;
    this.maxLength = maxLength;
  }

  /** Reads tokenizer.json and tokenizer_config.json. Throws ModelLoadError that names a missing file. */
  static async load(directory: string): Promise<TextTokenizer> {
    const [definition, config] = await Promise.all([
      readJson(directory, 'tokenizer.json', tokenizerSchema),
      readJson(directory, 'tokenizer_config.json', configSchema),
    ]);
    return new TextTokenizer({
      tokenizer: new Tokenizer(definition, config),
      controls: new ControlTokens(definition.added_tokens),
      template: await ChatTemplate.load(directory, config),
      maxLength: config.model_max_length ?? Number.POSITIVE_INFINITY,
    });
  }

  /** Returns the ids of a text from a caller. Names of control tokens in it are ordinary text. */
  encode(text: string): number[] {
    return this.encodePieces(this.controls.mark(text));
  }

  /** Returns the ids of a prompt with control tokens, between the special tokens that the model expects. */
  encodeMarked(text: string): number[] {
    return this.tokenizer.encode(text, { add_special_tokens: true }).ids;
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
    const options = { text_pair: second, return_token_type_ids: true } as const;
    const { ids, token_type_ids } = this.tokenizer.encode(first, options);
    return { ids, segments: token_type_ids ?? ids.map(() => 0) };
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
      for (const id of this.tokenizer.encode(piece, { add_special_tokens: false }).ids) ids.push(id);
    return ids;
  }

  private render(messages: TemplateMessage[], kwargs: Readonly<Record<string, unknown>>): string {
    if (!this.template) {
      throw new MegaNestError('invalid_request', {
        detail: 'This model has no chat template; send a prompt instead of messages.',
        param: 'messages',
      });
    }
    return this.template.render(messages, kwargs);
  }

  /** The source of the chat template; of several, of the one for tools. Undefined if the model has none. */
  get chatTemplate(): string | undefined {
    return this.template?.source;
  }
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
