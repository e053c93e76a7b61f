import { MegaNestError, type ChatMessage, type ModelInfo } from '#platform/contracts';
import { Detokenizer, type TextTokenizer, type TokenVocabulary } from '#engine/models';
import type { TokenCodec } from './generator-interface.js';

/** The marks of models that fill in the middle, and their order in the prompt. */
const fillForms: readonly { marks: readonly string[]; write: (prefix: string, suffix: string) => string }[] =
  [
    // Qwen, CodeGemma.
    {
      marks: ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'],
      write: (prefix, suffix) => `<|fim_prefix|>${prefix}<|fim_suffix|>${suffix}<|fim_middle|>`,
    },
    // StarCoder, Granite.
    {
      marks: ['<fim_prefix>', '<fim_suffix>', '<fim_middle>'],
      write: (prefix, suffix) => `<fim_prefix>${prefix}<fim_suffix>${suffix}<fim_middle>`,
    },
    // DeepSeek.
    {
      marks: ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>'],
      write: (prefix, suffix) => `<｜fim▁begin｜>${prefix}<｜fim▁hole｜>${suffix}<｜fim▁end｜>`,
    },
    // Codestral.
    {
      marks: ['[PREFIX]', '[SUFFIX]'],
      write: (prefix, suffix) => `[SUFFIX]${suffix}[PREFIX]${prefix}`,
    },
  ];

/** The prompt of a text with a gap, by the marks that a vocabulary has. */
export function promptAround(
  hasMark: (mark: string) => boolean,
  prefix: string,
  suffix: string,
): string | undefined {
  return fillForms.find(({ marks }) => marks.every(hasMark))?.write(prefix, suffix);
}

/** The tokens of a local model. */
export class LocalCodec implements TokenCodec {
  constructor(
    private readonly info: Pick<ModelInfo, 'id'>,
    private readonly parts: { tokenizer: TextTokenizer; vocabulary: TokenVocabulary },
  ) {}

  encode(text: string, { special }: { special: boolean }): Promise<number[]> {
    const { tokenizer } = this.parts;
    return Promise.resolve(special ? tokenizer.encodeMarked(text) : tokenizer.encode(text));
  }

  encodeChat(
    messages: readonly ChatMessage[],
    chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number[]> {
    return Promise.resolve(this.parts.tokenizer.encodeChat(messages, chatTemplateKwargs));
  }

  decode(tokens: readonly number[]): Promise<string> {
    const { vocabulary } = this.parts;
    const strange = tokens.find((id) => !vocabulary.has(id));
    if (strange !== undefined) {
      const detail = `tokens: ${this.info.id} has no token ${strange}`;
      throw new MegaNestError('invalid_request', { detail, param: 'tokens' });
    }
    const decoder = new Detokenizer();
    return Promise.resolve(tokens.map((id) => decoder.push(vocabulary.shownBytesOf(id))).join(''));
  }

  textOf(token: number): string {
    return this.parts.vocabulary.textOf(token);
  }

  promptAround(prefix: string, suffix: string): string | undefined {
    return promptAround((mark) => this.parts.vocabulary.hasMark(mark), prefix, suffix);
  }
}
