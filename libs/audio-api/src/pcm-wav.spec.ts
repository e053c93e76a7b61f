import { expect, it } from 'vitest';
import { pcmWav } from './pcm-wav.js';

it('writes the head that RIFF asks for, and the samples of a part of an array', () => {
  const samples = new Int16Array([7, 1, -2, 32_767]).subarray(1);
  const file = Buffer.from(pcmWav(samples, 16_000));
  expect(file.toString('latin1', 0, 4) + file.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
  expect(file.readUInt32LE(4)).toBe(file.length - 8);
  expect([file.readUInt16LE(20), file.readUInt16LE(22), file.readUInt16LE(34)]).toEqual([1, 1, 16]);
  expect([file.readUInt32LE(24), file.readUInt32LE(28), file.readUInt16LE(32)]).toEqual([16_000, 32_000, 2]);
  expect(file.readUInt32LE(40)).toBe(6);
  expect([44, 46, 48].map((at) => file.readInt16LE(at))).toEqual([1, -2, 32_767]);
});
