import { z } from 'zod';
import { ModelLoadError, readJson } from '../model/model-files.js';

interface DecoderStep {
  readonly type: string;
  readonly start?: number;
  readonly decoders?: readonly DecoderStep[];
}
const decoderSchema: z.ZodType<DecoderStep> = z.looseObject({
  type: z.string(),
  start: z.int().optional(),
  get decoders() {
    return z.array(decoderSchema).optional();
  },
});

const tokenizerFileSchema = z.object({
  decoder: decoderSchema.nullish(),
  added_tokens: z
    .array(z.object({ id: z.int(), content: z.string(), special: z.boolean().default(false) }))
    .default([]),
  model: z.object({
    vocab: z.union([z.record(z.string(), z.int()), z.array(z.tuple([z.string(), z.number()]))]),
  }),
});

/** Marks before the tool calls of Mistral's models. They are decoded as text for the parser of calls. */
const callMarks: ReadonlySet<string> = new Set(['[TOOL_CALLS]', '[CALL_ID]', '[ARGS]']);

const wordMark = '▁';
const encoder = new TextEncoder();

/**
 * The bytes of each token, from tokenizer.json. Text is decoded from bytes, because the bytes of one character may be
 * spread over several tokens.
 */
export class TokenVocabulary {
  private constructor(
    private readonly pieces: readonly (string | undefined)[],
    private readonly added: ReadonlyMap<number, { content: string; special: boolean }>,
    private readonly byteLevel: boolean,
    /** Spaces that decoding drops at the start of a text. */
    readonly droppedSpaces: number,
  ) {}

  /** Reads tokenizer.json. Throws ModelLoadError for a tokenizer that is neither byte-level nor like SentencePiece. */
  static async load(directory: string): Promise<TokenVocabulary> {
    const file = await readJson(directory, 'tokenizer.json', tokenizerFileSchema);
    const steps = file.decoder ? [file.decoder, ...(file.decoder.decoders ?? [])] : [];
    const types = new Set(steps.map(({ type }) => type));
    const byteLevel = types.has('ByteLevel');
    if (!byteLevel && !types.has('ByteFallback') && !types.has('Metaspace')) {
      throw new ModelLoadError(
        `${directory}/tokenizer.json has the decoder ${[...types].join(', ') || 'none'}; supported are ByteLevel, ByteFallback and Metaspace.`,
      );
    }
    const strip = steps.find(({ type }) => type === 'Strip')?.start ?? 0;
    const added = new Map(file.added_tokens.map(({ id, content, special }) => [id, { content, special }]));
    const droppedSpaces = Math.max(strip, types.has('Metaspace') ? 1 : 0);
    return new TokenVocabulary(readPieces(file.model.vocab), added, byteLevel, droppedSpaces);
  }

  /** Returns the bytes of a token; empty for marks such as `<|im_end|>` and for ids without a token. */
  bytesOf(id: number): Uint8Array {
    const added = this.added.get(id);
    if (added) return encoder.encode(added.special && !callMarks.has(added.content) ? '' : added.content);
    const piece = this.pieces[id] ?? '';
    return this.byteLevel ? bytesOfLetters(piece) : bytesOfPiece(piece);
  }

  /** Returns the bytes of a token; a mark has those of its name. */
  shownBytesOf(id: number): Uint8Array {
    const added = this.added.get(id);
    return added ? encoder.encode(added.content) : this.bytesOf(id);
  }

  /** Whether a mark such as `<|im_end|>` is one of the added tokens. */
  hasMark(content: string): boolean {
    return [...this.added.values()].some((each) => each.content === content);
  }

  /** Whether an id has a token. */
  has(id: number): boolean {
    return this.added.has(id) || this.pieces[id] !== undefined;
  }

  /** Returns the text of one token for display: incomplete characters as �, marks as their name. */
  textOf(id: number): string {
    return this.added.get(id)?.content ?? new TextDecoder().decode(this.bytesOf(id));
  }
}

function readPieces(vocabulary: Record<string, number> | [string, number][]): (string | undefined)[] {
  if (Array.isArray(vocabulary)) return vocabulary.map(([piece]) => piece);
  const pieces: (string | undefined)[] = [];
  for (const [piece, id] of Object.entries(vocabulary)) pieces[id] = piece;
  return pieces;
}

function bytesOfLetters(piece: string): Uint8Array {
  return Uint8Array.from(piece, (letter) => byteOfLetter(letter));
}

function bytesOfPiece(piece: string): Uint8Array {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(piece);
  if (byte) return Uint8Array.of(Number.parseInt(byte[1]!, 16));
  return encoder.encode(piece.replaceAll(wordMark, ' '));
}

/** True if byte-level vocabularies write a byte as the character of the same code: visible ones but the soft hyphen. */
function isWrittenAsItself(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/** The remaining bytes are numbered from U+0100 on, in order. */
const bytes = new Map<string, number>();
let shifted = 0;
for (let byte = 0; byte < 256; byte++) {
  bytes.set(String.fromCodePoint(isWrittenAsItself(byte) ? byte : 0x100 + shifted++), byte);
}

/** Returns the byte for a letter of a byte-level vocabulary (GPT-2's alphabet); `?` for any other letter. */
function byteOfLetter(letter: string): number {
  return bytes.get(letter) ?? 0x3f;
}
