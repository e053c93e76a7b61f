import { readFileSync } from 'node:fs';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Picture } from '../picture/decode-picture.js';
import { cropGray, resizeGray, toGray, type GrayPicture, type TurnedBox } from './gray-picture.js';
import type { OcrModelFiles } from './ocr-models.js';
import { boxesOfMap } from './text-boxes.js';
import { withSpaces, wordGaps } from './word-gaps.js';

/** A line of text in a picture. */
export interface PictureLine {
  text: string;
  /** In pixels of the picture after its turn. */
  box: TurnedBox;
  /** Mean probability of its characters. */
  confidence: number;
  /** The place of each character of the text in the line, from 0 to 1. */
  places: number[];
}

/** What was read in a picture. */
export interface PictureText {
  lines: PictureLine[];
  /** By how many quarters the picture was turned to the right before it was read. */
  quarters: number;
  /** The turned picture. */
  gray: GrayPicture;
}

/** Longest side of the picture in which lines are sought. */
const maxSide = 1_280;
/** Height of a line for the recognition, and the limit for its width. */
const lineHeight = 48;
const maxLineWidth = 3_200;
const minConfidence = 0.55;
/** Means and deviations of the pixels of the training (ImageNet). */
const [means, deviations] = [
  [0.485, 0.456, 0.406],
  [0.229, 0.224, 0.225],
];
/** One thread, and memory that goes back after each run: a reader process is small. */
const options: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  enableCpuMemArena: false,
  logSeverityLevel: 3,
};

/** Reads text in pictures: finds lines, turns the picture upright, reads the lines. */
export class PictureTextReader {
  private constructor(
    private readonly detection: InferenceSession,
    private readonly direction: InferenceSession,
    private readonly recognition: InferenceSession,
    private readonly characters: readonly string[],
  ) {}

  /** Loads the models. */
  static async load(files: OcrModelFiles): Promise<PictureTextReader> {
    const characters = readFileSync(files.characters, 'utf8')
      .replace(/\r?\n$/, '')
      .split(/\r?\n/);
    // The first output of the model means no character, the last one a space.
    return new PictureTextReader(
      await open(files.detection),
      await open(files.direction),
      await open(files.recognition),
      ['', ...characters, ' '],
    );
  }

  async read(picture: Picture): Promise<PictureText> {
    const found = await this.#upright(toGray(picture));
    const lines: PictureLine[] = [];
    for (const box of found.boxes) {
      const line = await this.#readLine(found.gray, box);
      if (line.text.trim() && line.confidence >= minConfidence) lines.push(line);
    }
    return { lines, quarters: found.quarters, gray: found.gray };
  }

  /** Turns a picture so that its lines run to the right. */
  async #upright(gray: GrayPicture): Promise<{ gray: GrayPicture; boxes: TurnedBox[]; quarters: number }> {
    let boxes = await this.#findLines(gray);
    let [turned, quarters] = [gray, 0];
    const long = boxes.filter(({ width, height }) => Math.max(width, height) > 2 * Math.min(width, height));
    if (long.filter(({ width, height }) => height > width).length > 0.6 * long.length) {
      turned = quarterTurn(gray);
      quarters = 1;
      boxes = await this.#findLines(turned);
    }
    if (await this.#isUpsideDown(turned, boxes)) {
      turned = quarterTurn(quarterTurn(turned));
      quarters += 2;
      boxes = boxes.map((box) => ({ ...box, x: turned.width - box.x, y: turned.height - box.y }));
    }
    return { gray: turned, boxes, quarters };
  }

  async #findLines(gray: GrayPicture): Promise<TurnedBox[]> {
    const scale = Math.min(1, maxSide / Math.max(gray.width, gray.height));
    const width = Math.max(32, Math.round((gray.width * scale) / 32) * 32);
    const height = Math.max(32, Math.round((gray.height * scale) / 32) * 32);
    const { pixels } = resizeGray(gray, width, height);
    const input = new Float32Array(3 * width * height);
    for (let channel = 0; channel < 3; channel += 1) {
      const [mean, deviation] = [means[channel]!, deviations[channel]!];
      const start = channel * width * height;
      for (let at = 0; at < pixels.length; at += 1)
        input[start + at] = (pixels[at]! / 255 - mean) / deviation;
    }
    const map = await run(this.detection, input, [1, 3, height, width]);
    const [stepX, stepY] = [gray.width / width, gray.height / height];
    return boxesOfMap(map, width, height).map((box) => ({
      ...box,
      x: box.x * stepX,
      y: box.y * stepY,
      width: box.width * stepX,
      height: box.height * stepY,
    }));
  }

  /** Asks the model about the longest lines. */
  async #isUpsideDown(gray: GrayPicture, boxes: readonly TurnedBox[]): Promise<boolean> {
    const longest = boxes.toSorted((one, other) => other.width - one.width).slice(0, 7);
    let turned = 0;
    for (const box of longest) {
      const width = Math.min(192, Math.max(16, Math.round((box.width / box.height) * lineHeight)));
      const part = { ...box, width: Math.min(box.width, (box.height * 192) / lineHeight) };
      const input = new Float32Array(3 * lineHeight * 192);
      fillLine(input, cropGray(gray, part, width, lineHeight), 192);
      const [upright = 1, down = 0] = await run(this.direction, input, [1, 3, lineHeight, 192]);
      turned += down > upright ? 1 : 0;
    }
    return turned > longest.length / 2;
  }

  async #readLine(gray: GrayPicture, box: TurnedBox): Promise<PictureLine> {
    const isUpright = box.height > 1.5 * box.width;
    const line = isUpright
      ? { ...box, width: box.height, height: box.width, angle: box.angle + Math.PI / 2 }
      : box;
    const width = Math.min(maxLineWidth, Math.max(16, Math.ceil((line.width / line.height) * lineHeight)));
    const input = new Float32Array(3 * lineHeight * width);
    const crop = cropGray(gray, line, width, lineHeight);
    fillLine(input, crop, width);
    const output = await run(this.recognition, input, [1, 3, lineHeight, width]);
    const { confidence, ...read } = this.#decode(output);
    return { box: line, confidence, ...withSpaces(read.text, read.places, wordGaps(crop)) };
  }

  /** The best character at each step, without repeats (connectionist temporal classification). */
  #decode(output: Float32Array): Omit<PictureLine, 'box'> {
    const size = this.characters.length;
    const steps = output.length / size;
    const places: number[] = [];
    let [text, sum, last] = ['', 0, 0];
    for (let step = 0; step < steps; step += 1) {
      let [best, probability] = [0, output[step * size]!];
      for (let index = 1; index < size; index += 1) {
        const each = output[step * size + index]!;
        if (each > probability) [best, probability] = [index, each];
      }
      if (best !== 0 && best !== last) {
        const character = this.characters[best]!;
        text += character;
        sum += probability;
        for (let unit = 0; unit < character.length; unit += 1) places.push((step + 0.5) / steps);
      }
      last = best;
    }
    return { text, places, confidence: places.length > 0 ? sum / places.length : 0 };
  }
}

/** Writes a line to the three channels of an input of a width, from -1 to 1. */
function fillLine(input: Float32Array, { width, height, pixels }: GrayPicture, inputWidth: number): void {
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const value = pixels[y * width + x]! / 127.5 - 1;
      for (let channel = 0; channel < 3; channel += 1) input[(channel * height + y) * inputWidth + x] = value;
    }
}

const open = (file: string) => InferenceSession.create(file, options);

async function run(session: InferenceSession, input: Float32Array, dims: number[]): Promise<Float32Array> {
  const [name = ''] = session.inputNames;
  const outputs = await session.run({ [name]: new Tensor('float32', input, dims) });
  return outputs[session.outputNames[0] ?? '']!.data as Float32Array;
}

/** The picture turned to the right by a quarter. */
function quarterTurn({ width, height, pixels }: GrayPicture): GrayPicture {
  const turned = new Uint8Array(pixels.length);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) turned[x * height + (height - 1 - y)] = pixels[y * width + x]!;
  return { width: height, height: width, pixels: turned };
}
