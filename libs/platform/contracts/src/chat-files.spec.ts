import { describe, expect, it } from 'vitest';
import {
  AttachedFileMark,
  attachedFileOf,
  filesOf,
  moveFiles,
  textOfAttached,
  withoutFiles,
} from './chat-files.js';
import { joinPieces, type ContentPiece } from './chat-images.js';
import type { ChatMessage } from './services/llm.js';

const file = (filename: string, text: string): ContentPiece => ({
  text: textOfAttached({ filename }, text),
  file: { filename },
});
const user = (...pieces: ContentPiece[]): ChatMessage => ({ role: 'user', ...joinPieces(pieces) });
const [a, b] = [file('a.txt', 'One.\nTwo.'), file('b.txt', 'Three.\n')];
const image = (url: string): ContentPiece => ({ image: { url } });

describe('the files of a turn', () => {
  it.each<[string, ContentPiece[], string]>([
    ['after the question', [{ text: 'What?' }, a], 'What?'],
    ['before the question', [a, { text: 'What?' }], 'What?'],
    ['within the question', [{ text: 'Read.' }, a, { text: 'Now.' }], 'Read.\nNow.'],
    ['two, on both sides', [a, { text: 'What?' }, b], 'What?'],
    ['two together', [{ text: 'What?' }, a, b], 'What?'],
    ['without a question', [a, b], ''],
  ])('are removed from the question: %s', (_place, pieces, question) => {
    const message = user(...pieces);
    expect(withoutFiles(message)).toEqual({ role: 'user', content: question });
    const texts = pieces.filter((piece) => piece.file).map((piece) => ({ ...piece.file, text: piece.text }));
    expect(filesOf(message).map((read) => textOfAttached(read, read.text))).toEqual(
      texts.map(({ text }) => text),
    );
    expect(filesOf(message)[0]).toEqual({ filename: 'a.txt', text: 'One.\nTwo.' });
  });

  it('leave the images where they were among the words', () => {
    const message = user(a, image('x'), { text: 'Compare' }, image('y'), { text: 'both.' }, b);
    expect(withoutFiles(message)).toEqual({
      role: 'user',
      content: 'Compare\nboth.',
      images: [
        { url: 'x', at: 0 },
        { url: 'y', at: 7 },
      ],
    });
  });

  it('are only those of the user', () => {
    const message: ChatMessage = { ...user(a), role: 'tool' };
    expect(filesOf(message)).toEqual([]);
    expect(withoutFiles(message)).toBe(message);
    const plain = user({ text: 'What?' });
    expect(withoutFiles(plain)).toBe(plain);
  });

  it('move with the text that replaces a part of the content', () => {
    const content = 'key one key two';
    const range = { filename: 'f', at: 4, length: 7 };
    const shorter = { start: 0, end: 3, length: 1 };
    expect(moveFiles([range], [shorter])).toEqual([{ filename: 'f', at: 2, length: 7 }]);
    const within = { start: 8, end: 11, length: 10 };
    expect(moveFiles([range], [shorter, within])).toEqual([{ filename: 'f', at: 2, length: 14 }]);
    const behind = { start: 12, end: content.length, length: 0 };
    expect(moveFiles([range], [behind])).toEqual([range]);
  });
});

it('attachedFileOf reads the mark of the gateway, and not the fields of a caller', () => {
  const attached = { filename: 'a.txt', url: 'https://a.example/a.txt' };
  expect(attachedFileOf({ attached: new AttachedFileMark(attached) })).toEqual(attached);
  expect(attachedFileOf({ attached })).toBeUndefined();
  expect(attachedFileOf({})).toBeUndefined();
});
