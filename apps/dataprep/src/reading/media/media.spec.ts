import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { chunkDocument } from '../../chunking/chunk-document.js';
import { detectType } from '../detect-type.js';
import { readDocument } from '../read-document.js';
import { hasPictures, isMedia } from './media-type.js';
import { transcriptBlocks } from './transcript-blocks.js';

const fixture = async (name: string) =>
  new Uint8Array(await readFile(new URL(`../../../../../test/fixtures/asr/${name}`, import.meta.url)));
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))));
/** A box of MP4: its size, its type and its content. */
const box = (type: string, content: string) =>
  String.fromCharCode(0, 0, (content.length + 8) >> 8, (content.length + 8) & 255) + type + content;
const handler = (kind: string) => box('hdlr', `\0\0\0\0\0\0\0\0${kind}`);

describe('media files', () => {
  it.each([
    'aac.m4a',
    'flac.oga',
    'mono-16000.mp3',
    'mono-22050.flac',
    'opus.ogg',
    'opus.webm',
    'question.wav',
    'stereo-44100.mp3',
    'vorbis.ogg',
  ])('%s is one, under any name', async (name) => {
    const content = await fixture(name);
    expect(isMedia(content)).toBe(true);
    expect(detectType({ bytes: content, filename: 'talk.txt', mimeType: '' })).toBe('media');
    expect(hasPictures(content)).toBe(false);
  });

  it.each([
    ['an MP3 without tags', bytes([0xff, 0xfb, 0x90, 0x64]), true],
    ['AAC without a container', bytes([0xff, 0xf1, 0x50, 0x80]), true],
    ['UTF-16', bytes([0xff, 0xfe, 0x41, 0x00]), false],
    ['a JPEG', bytes([0xff, 0xd8, 0xff, 0xe0]), false],
    ['HEIC', bytes([0, 0, 0, 24], 'ftypheic'), false],
    ['WebP', bytes('RIFF\0\0\0\0WEBPVP8 '), false],
    ['a text', bytes('Ogg and FLAC'), false],
  ])('%s: %#', (_name, content, expected) => expect(isMedia(content)).toBe(expected));

  it.each([
    ['MP4 with sound', bytes(box('ftyp', 'isom'), box('moov', handler('soun'))), false],
    ['MP4 with pictures', bytes(box('ftyp', 'isom'), box('moov', handler('soun') + handler('vide'))), true],
    ['WebM with pictures', bytes([0x1a, 0x45, 0xdf, 0xa3], 'webm V_VP9 A_OPUS'), true],
    ['Ogg with Theora', bytes('OggS', [0, 2], '\x80theora'), true],
  ])('%s: the pictures are found', (_name, content, expected) => expect(hasPictures(content)).toBe(expected));

  it('is refused within another file, and where the content is not what the name says', async () => {
    const wav = await fixture('question.wav');
    await expect(readDocument({ bytes: wav, filename: 'a.wav', mimeType: '' })).rejects.toThrow(
      'send it as a file of its own',
    );
    const text = { bytes: bytes('Not a sound.'), filename: 'a.mp3', mimeType: 'audio/mpeg' };
    await expect(readDocument(text)).rejects.toThrow('its name says mp3, its content does not');
  });
});

describe('a transcript', () => {
  const sentences = (count: number, seconds: number) =>
    Array.from({ length: count }, (_unused, index) => ({
      start: index * seconds,
      end: (index + 1) * seconds,
      text: `Sentence number ${index + 1} is here.`,
    }));

  it('becomes paragraphs of about ten seconds, at the ends of sentences and at pauses', () => {
    const [first, second, ...others] = transcriptBlocks(sentences(5, 4));
    expect(first).toEqual({
      kind: 'paragraph',
      text: 'Sentence number 1 is here. Sentence number 2 is here. Sentence number 3 is here.',
      time: { start: 0, end: 12 },
    });
    expect(second?.time).toEqual({ start: 12, end: 20 });
    expect(others).toEqual([]);
    const paused = [
      { start: 0, end: 2, text: 'before the pause' },
      { start: 9, end: 11, text: 'after it' },
    ];
    expect(transcriptBlocks(paused).map(({ text }) => text)).toEqual(['before the pause', 'after it']);
  });

  it('ends a paragraph without a full stop after half a minute, and joins what has no spaces', () => {
    const words = Array.from({ length: 20 }, (_unused, index) => ({
      start: index * 4,
      end: index * 4 + 4,
      text: '仓库',
      joined: true,
    }));
    const blocks = transcriptBlocks(words);
    expect(blocks.length).toBe(3);
    expect(blocks[0]?.text).toBe('仓库'.repeat(7));
    expect(transcriptBlocks([{ start: 0, end: 1, text: '  ' }])).toEqual([]);
  });

  it('gives each chunk its time, and the times of its paragraphs with their offsets', () => {
    const blocks = transcriptBlocks(sentences(40, 4));
    const chunks = chunkDocument({ blocks }, { chunkSize: 40, chunkOverlap: 0 });
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks[0]?.time?.start).toBe(0);
    expect(chunks.at(-1)?.time?.end).toBe(160);
    for (const { text, timeBreaks = '' } of chunks)
      for (const part of timeBreaks.split(' ').filter(Boolean)) {
        const [offset = 0, start = 0, end = 0] = part.split(/[:-]/).map(Number);
        const said = Number(/^Sentence number (\d+)/.exec(text.slice(offset))?.[1]);
        // A chunk may begin within a paragraph.
        const [first, last] = [start / 4 + 1, end / 4];
        expect(offset === 0 ? said >= first && said <= last : said === first).toBe(true);
      }
  });
});
