import { Idefics3ImageProcessor, RawImage, type Tensor } from '@xenova/transformers';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawPicture } from './picture-files.fixture.js';
import { normalizeTile, readPictureSettings } from './picture-settings.js';
import { resizePicture } from './resize-picture.js';
import { tilePicture } from './tile-picture.js';

/** The processor of SmolVLM, with tiles of a sixteenth of its size. */
const processor = {
  do_convert_rgb: true,
  do_image_splitting: true,
  do_normalize: true,
  do_pad: true,
  do_rescale: true,
  do_resize: true,
  image_mean: [0.5, 0.4, 0.5],
  image_processor_type: 'Idefics3ImageProcessor',
  image_std: [0.5, 0.5, 0.25],
  max_image_size: { longest_edge: 32 },
  resample: 1,
  rescale_factor: 1 / 255,
  size: { longest_edge: 128 },
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'meganest-tiles-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function settingsOf(config: object) {
  await writeFile(path.join(folder, 'preprocessor_config.json'), JSON.stringify(config));
  return readPictureSettings(folder, 32);
}

interface Processed {
  pixel_values: Tensor;
  rows: number[][];
  cols: number[][];
}

/** The tiles of a picture by ours and by transformers.js, normalized. */
async function both(width: number, height: number, { splits = true, edge = 128 } = {}) {
  const config = { ...processor, do_image_splitting: splits, size: { longest_edge: edge } };
  const picture = drawPicture(width, height);
  const settings = await settingsOf(config);
  const ours = tilePicture(picture, settings);
  const raw = new RawImage(new Uint8ClampedArray(picture.pixels), width, height, 3);
  const theirs = (await new Idefics3ImageProcessor(config)(raw, {
    return_row_col_info: true,
  })) as unknown as Processed;
  const side = 32 * 32 * 3;
  const tiles = ours.tiles.length / side;
  const values = Array.from({ length: tiles }, (_, index) => [
    ...normalizeTile(ours.tiles.subarray(index * side, (index + 1) * side), settings),
  ]).flat();
  return { ours, tiles, values, theirs };
}

describe('tilePicture', () => {
  it.each([
    { width: 100, height: 80, rows: 4, columns: 4 },
    { width: 300, height: 70, rows: 1, columns: 4 },
    { width: 65, height: 300, rows: 4, columns: 1 },
    { width: 500, height: 260, rows: 3, columns: 4 },
    { width: 260, height: 1000, rows: 4, columns: 2 },
  ])('cuts $width × $height as transformers.js does', async ({ width, height, rows, columns }) => {
    const { ours, theirs, tiles, values } = await both(width, height);
    expect([ours.rows, ours.columns]).toEqual([rows, columns]);
    expect([theirs.rows, theirs.cols]).toEqual([[[rows]], [[columns]]]);
    expect(theirs.pixel_values.dims).toEqual([1, tiles, 3, 32, 32]);
    // transformers.js resizes the second time by a bilinear filter, transformers by the filter of the model.
    const expected = theirs.pixel_values.data as Float32Array;
    const differences = values
      .map((value, index) => Math.abs(value - expected[index]!))
      .toSorted((a, b) => a - b);
    expect(differences[differences.length >> 1]).toBeLessThan(0.025);
    const mean = differences.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean).toBeLessThan(0.06);
  });

  it('shows the whole picture alone where the model does not cut, or where it has the size of a tile', async () => {
    for (const options of [{ splits: false }, { edge: 32 }]) {
      const { ours, theirs, tiles } = await both(90, 90, options);
      expect([ours.rows, ours.columns, tiles]).toEqual([0, 0, 1]);
      expect(theirs.rows).toEqual([[0]]);
    }
    const whole = tilePicture(drawPicture(100, 80), await settingsOf(processor), { whole: true });
    expect([whole.rows, whole.columns, whole.tiles.length]).toEqual([0, 0, 32 * 32 * 3]);
  });

  it('has tiles that make up the picture again', async () => {
    const settings = await settingsOf({ ...processor, do_resize: false });
    const picture = drawPicture(64, 96);
    const { rows, columns, tiles } = tilePicture(picture, settings);
    expect([rows, columns]).toEqual([3, 2]);
    const at = (x: number, y: number) => {
      const tile = Math.floor(y / 32) * columns + Math.floor(x / 32);
      return [...tiles.subarray(((tile * 32 + (y % 32)) * 32 + (x % 32)) * 3).subarray(0, 3)];
    };
    for (const [x, y] of [
      [0, 0],
      [63, 0],
      [31, 32],
      [32, 95],
    ] as const)
      expect(at(x, y)).toEqual([...picture.pixels.subarray((y * 64 + x) * 3).subarray(0, 3)]);
    const whole = resizePicture(picture, 32, 32, 'lanczos').pixels;
    expect(tiles.subarray(rows * columns * 32 * 32 * 3)).toEqual(whole);
  });
});

describe('resizePicture', () => {
  it.each([
    [
      'lanczos',
      5,
      3,
      '5c68757e8f519d72af7e8f7b7b977c6e6c529b8e58566e90887f5f937db268cc757b6f71622ea49280a8906986',
    ],
    [
      'lanczos',
      16,
      9,
      '0002223757af6bc6e044b8318a63a9ae24c0874805cdad66fff6f8bed9fa217ab06d36b2fd59d67ec08e1aed821ae0a1',
    ],
    [
      'bilinear',
      5,
      3,
      '5e69717f8b589773a27e89807e99846e76568f885f61719290816d8e80a56ebc777a766f623ba08a7b9c8f6588',
    ],
    [
      'bilinear',
      16,
      9,
      '00143636619960a7c44db13b846d94a341a58d4818caa187ded2d5c1d2f14f7db9785bb4e868c673c08b39db8b22daa0',
    ],
    [
      'bicubic',
      5,
      3,
      '5c66737f8e549b74aa7f8b7f7c9b826d7055978b5a5971908e7f65907dae6dc6767972716131a38d7fa1906686',
    ],
    [
      'bicubic',
      16,
      9,
      '000729345da467b6dd45b52f8865a4ac2fbb8a470ad2ad7df1e8e4c4d7f83376b56d48b4f95dd271c48929e78617e2a0',
    ],
  ] as const)('gives the first pixels of Pillow 9.4, %s to %i × %i', (filter, width, height, hex) => {
    const pixels = Uint8Array.from(
      { length: 11 * 7 * 3 },
      (_, index) => (index * index * 7 + index * 13) % 256,
    );
    const { pixels: ours } = resizePicture({ width: 11, height: 7, pixels }, width, height, filter);
    // Pillow computes in fixed point, so that a result may be rounded the other way.
    const differences = [...Buffer.from(hex, 'hex')].map((value, index) => Math.abs(value - ours[index]!));
    expect(Math.max(...differences)).toBeLessThanOrEqual(1);
    expect(differences.filter((difference) => difference > 0).length).toBeLessThan(4);
  });

  it('keeps an even area even, with each filter', () => {
    const gray = { width: 9, height: 5, pixels: new Uint8Array(9 * 5 * 3).fill(77) };
    for (const filter of ['lanczos', 'bilinear', 'bicubic'] as const)
      for (const [width, height] of [
        [31, 17],
        [3, 2],
      ] as const)
        expect(new Set(resizePicture(gray, width, height, filter).pixels)).toEqual(new Set([77]));
  });
});

describe('readPictureSettings', () => {
  it('names a setting that the tower cannot take, and the missing file', async () => {
    await expect(settingsOf({ ...processor, max_image_size: { longest_edge: 48 } })).rejects.toThrow(
      'max_image_size is 48, but image_size of config.json is 32',
    );
    await expect(settingsOf({ ...processor, resample: 0 })).rejects.toThrow('resample');
    await expect(readPictureSettings(path.join(folder, 'other'), 32)).rejects.toThrow(
      'preprocessor_config.json is missing',
    );
  });

  it('reads the image processor of processor_config.json', async () => {
    const other = await mkdtemp(path.join(folder, 'joint-'));
    await writeFile(
      path.join(other, 'processor_config.json'),
      JSON.stringify({ image_processor: processor, image_seq_len: 64 }),
    );
    expect(await readPictureSettings(other, 32)).toEqual(await settingsOf(processor));
  });
});
