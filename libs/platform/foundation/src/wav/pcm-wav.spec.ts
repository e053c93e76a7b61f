import { describe, expect, it } from 'vitest';
import { pcmWav, readPcmWav } from './pcm-wav.js';

const samples = new Int16Array([7, 1, -2, 32_767]).subarray(1);
const file = Buffer.from(pcmWav(samples, 16_000));

it('writes the head that RIFF asks for, and the samples of a part of an array', () => {
  expect(file.toString('latin1', 0, 4) + file.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
  expect(file.readUInt32LE(4)).toBe(file.length - 8);
  expect([file.readUInt16LE(20), file.readUInt16LE(22), file.readUInt16LE(34)]).toEqual([1, 1, 16]);
  expect([file.readUInt32LE(24), file.readUInt32LE(28), file.readUInt16LE(32)]).toEqual([16_000, 32_000, 2]);
  expect(file.readUInt32LE(40)).toBe(6);
  expect([44, 46, 48].map((at) => file.readInt16LE(at))).toEqual([1, -2, 32_767]);
});

describe('readPcmWav', () => {
  const expected = Float32Array.from(samples, (sample) => sample / 32_768);

  it('reads back what pcmWav writes', () => {
    expect(readPcmWav(file)).toEqual(expected);
  });

  it('skips other chunks and stops at the end of the file', () => {
    const list = Buffer.from('LIST\x04\x00\x00\x00abcd', 'latin1');
    const streamed = Buffer.concat([file.subarray(0, 36), list, file.subarray(36)]);
    streamed.writeUInt32LE(0xff_ff_ff_ff, 52);
    expect(readPcmWav(streamed)).toEqual(expected);
  });

  it('refuses two channels, 8 bits, another format and a file without samples', () => {
    const changed = (at: number, value: number) => {
      const copy = Buffer.from(file);
      copy.writeUInt8(value, at);
      return () => readPcmWav(copy);
    };
    expect(changed(22, 2)).toThrow('not a WAV file of one channel');
    expect(changed(34, 8)).toThrow('not a WAV file of one channel');
    expect(changed(0, 0)).toThrow('not a WAV file of one channel');
    expect(changed(36, 0)).toThrow('without samples');
  });
});
