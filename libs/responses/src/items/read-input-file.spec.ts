import { describe, expect, it } from 'vitest';
import { inputFileOf, textOfTextFile } from './read-input-file.js';

const base64 = Buffer.from('grüß').toString('base64');

describe('inputFileOf', () => {
  it('reads data URLs and bare base64, URLs and ids', () => {
    expect(inputFileOf({ file_data: `data:text/plain;base64,${base64}`, filename: 'a.txt' }, 'p')).toEqual({
      filename: 'a.txt',
      mimeType: 'text/plain',
      bytes: Buffer.from('grüß'),
    });
    const unnamed = { filename: 'file', mimeType: '' };
    expect(inputFileOf({ file_data: base64 }, 'p')).toMatchObject(unnamed);
    expect(inputFileOf({ file_data: base64, filename: '' }, 'p')).toMatchObject(unnamed);
    expect(inputFileOf({ file_url: 'https://a.example/x.pdf' }, 'p')).toEqual({
      url: 'https://a.example/x.pdf',
    });
    expect(inputFileOf({ file_id: 'file-1', filename: 'x' }, 'p')).toEqual({ id: 'file-1', filename: 'x' });
  });

  it.each([
    [{}, 'p'],
    [{ file_data: 'data:text/plain,hello' }, 'p.file_data'],
    [{ file_data: '{"no": "base64"}' }, 'p.file_data'],
  ])('refuses %j', (part, param) => {
    expect(() => inputFileOf(part, 'p')).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });

  it('refuses a long text at once', () => {
    const data = `${' '.repeat(100_000)}!`;
    const started = performance.now();
    expect(() => inputFileOf({ file_data: data }, 'p')).toThrow('is not base64');
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('textOfTextFile', () => {
  const bytes = Buffer.from('grüß');

  it.each([
    ['a.md', '', 'grüß'],
    ['a', 'text/plain', 'grüß'],
    ['a.json', 'application/octet-stream', 'grüß'],
    ['a.pdf', 'application/pdf', undefined],
    ['a.html', 'text/html', undefined],
    ['a.txt', 'application/pdf', undefined],
  ])('%s of type %j', (filename, mimeType, text) => {
    expect(textOfTextFile({ filename, mimeType, bytes })).toBe(text);
  });

  it('takes nothing for text that is none', () => {
    const broken = { filename: 'a.txt', mimeType: 'text/plain', bytes: Buffer.of(0xff, 0xfe, 0x00) };
    expect(textOfTextFile(broken)).toBeUndefined();
  });
});
