import { existsSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { Detokenizer, TextTokenizer } from './text-tokenizer.js';
import { projectRoot, testData } from '#platform/foundation';
import { TokenVocabulary } from './token-vocabulary.js';

const anyText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('<'));
const plainText = fc.string({ unit: fc.constantFrom('a', 'b', 'e', 'n', 'o', 't', ' ', '.', ',', '!') });
const models = [
  { kind: 'byte-level', directory: path.join(projectRoot, 'models', 'nano-chat'), texts: anyText },
  {
    kind: 'SentencePiece',
    // Skipped where this folder of other people's models is absent. Its vocabulary lacks many characters.
    directory: testData('models/tinystories-656k'),
    texts: plainText,
  },
];

describe.each(models)('TokenVocabulary, $kind', ({ directory, texts }) => {
  const present = existsSync(directory);
  let tokenizer: TextTokenizer;
  let vocabulary: TokenVocabulary;
  beforeAll(async () => {
    if (!present) return;
    tokenizer = await TextTokenizer.load(directory);
    vocabulary = await TokenVocabulary.load(directory);
  });

  it.skipIf(!present)('turns the tokens of a text back into that text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        // Decoding drops a leading space; a letter keeps it from being one.
        const written = `a${text}`;
        const detokenizer = new Detokenizer(vocabulary.droppedSpaces);
        const pieces = tokenizer.encode(written).map((id) => detokenizer.push(vocabulary.bytesOf(id)));
        expect(pieces.join('')).toBe(written);
      }),
    );
  });

  it.skipIf(!present)('gives no bytes for marks and unknown ids', () => {
    expect(vocabulary.bytesOf(2)).toHaveLength(0);
    expect(vocabulary.bytesOf(1e6)).toHaveLength(0);
    expect(vocabulary.textOf(2)).toMatch(/^<\|.*\|>$/);
  });
});

it('refuses tokenizers that it cannot decode', async () => {
  const bert = path.join(projectRoot, 'models', 'nano-embed');
  await expect(TokenVocabulary.load(bert)).rejects.toThrow(/WordPiece/);
});
