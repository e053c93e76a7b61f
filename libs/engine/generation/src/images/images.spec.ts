import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatMessage } from '#platform/contracts';
import type { FixtureTensors } from '../../../onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import { largest } from '../../../onnx-compiler/src/decoder/greedy-driver.fixture.js';
import { referenceLogits } from '../../../onnx-compiler/src/decoder/reference-decoder.fixture.js';
import {
  referenceEmbeddings,
  textTensors,
} from '../../../onnx-compiler/src/vision/reference-vision.fixture.js';
import { modelTiles } from '../../../vision/src/picture/model-tiles.fixture.js';
import { drawPicture, encodePng, pngOf } from '../../../vision/src/picture/picture-files.fixture.js';
import type { GenerationEvent, Generator } from '../generator-interface.js';
import { type GeneratorLoadOptions, loadGenerator } from '../generator.js';
import { idsOf, visionConfig, writeVisionModel } from './vision-model.fixture.js';

let folder: string;
let directory: string;
let tensors: FixtureTensors;
let exact: Generator;
let rounded: Generator;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'meganest-images-'));
  directory = path.join(folder, 'smolvlm');
  tensors = await writeVisionModel(directory);
  exact = await load({ weights: 'fp32', keyValues: 'float' });
  rounded = await load({});
});
afterAll(async () => {
  await exact?.close();
  await rounded?.close();
  await rm(folder, { recursive: true, force: true });
});

function load(options: GeneratorLoadOptions): Promise<Generator> {
  return loadGenerator(directory, { cacheDirectory: folder, threads: 1, ...options });
}

const drawn = [drawPicture(50, 40, 1), drawPicture(40, 50, 2)] as const;

function urlOf(picture: (typeof drawn)[number]): string {
  return `data:image/png;base64,${Buffer.from(encodePng(picture)).toString('base64')}`;
}

const question = 'What is to be seen in it?';

/** A question about pictures, which are shown before the words. */
function asking(...images: NonNullable<ChatMessage['images']>): ChatMessage[] {
  return [{ role: 'user', content: question, images: images.map((image) => ({ at: 0, ...image })) }];
}

async function answer(generator: Generator, messages: readonly ChatMessage[], maxTokens = 8) {
  const events: GenerationEvent[] = [];
  const parameters = { max_tokens: maxTokens, temperature: 0, ignore_eos: true };
  for await (const event of generator.generate({ messages, parameters })) events.push(event);
  return { tokens: events.flatMap(({ tokenIds }) => tokenIds), usage: events.at(-1)!.usage! };
}

const tiles = (rows: number, columns: number): string => {
  const parts = '<image>'.repeat(4);
  const lines = Array.from({ length: rows }, (_, row) =>
    Array.from(
      { length: columns },
      (_unused, column) => `<fake_token_around_image><row_${row + 1}_col_${column + 1}>${parts}`,
    ).join(''),
  );
  const whole = `<fake_token_around_image><global-img>${parts}<fake_token_around_image>`;
  return rows === 0 ? whole : `${lines.map((line) => `${line}\n`).join('')}\n${whole}`;
};

describe('a vision-language model', () => {
  it('says that it takes images', () => {
    expect(exact.info.modalities).toEqual(['text', 'image']);
    expect(rounded.info.modalities).toEqual(['text', 'image']);
  });

  it('writes the tokens of a double-precision forward pass over the tiles and words', async () => {
    const images = new Map<number, number[]>();
    const shown = [tiles(2, 2), tiles(0, 0)];
    const ids = idsOf(`<|im_start|>User:${shown.join('')}${question}<end_of_utterance>\nAssistant:`);
    const places = ids.flatMap((id, position) => (id === visionConfig.image_token_id ? [position] : []));
    const tilesOf = await Promise.all(
      drawn.map((picture, index) => modelTiles(directory, picture, { side: 32, whole: index === 1 })),
    );
    const embeddings = tilesOf.flat().flatMap((tile) => referenceEmbeddings(visionConfig, tensors, tile));
    expect(embeddings).toHaveLength(places.length);
    places.forEach((position, index) => images.set(position, embeddings[index]!));
    const expected: number[] = [];
    for (let step = 0; step < 3; step++) {
      const all = referenceLogits(
        visionConfig.text_config,
        textTensors(tensors),
        [...ids, ...expected],
        images,
      );
      expected.push(largest(Float32Array.from(all.at(-1)!)));
    }
    const messages = asking({ url: urlOf(drawn[0]) }, { url: urlOf(drawn[1]), detail: 'low' });
    const { tokens, usage } = await answer(exact, messages, 3);
    expect(tokens).toEqual(expected);
    expect(usage.promptTokens).toBe(ids.length);
    expect(await exact.countPromptTokens(messages)).toBe(ids.length);
  });

  it.each(['exact', 'rounded'] as const)('tells images apart, and knows an image again, %s', async (name) => {
    const generator = name === 'exact' ? exact : rounded;
    const first = await answer(generator, asking({ url: urlOf(drawPicture(60, 60, 5)) }));
    const again = await answer(generator, asking({ url: urlOf(drawPicture(60, 60, 5)) }));
    const other = await answer(generator, asking({ url: urlOf(drawPicture(60, 60, 6)) }));
    expect(again.tokens).toEqual(first.tokens);
    expect(other.tokens).not.toEqual(first.tokens);
    expect(other.usage.promptTokens).toBe(first.usage.promptTokens);
    // Blocks of 64 tokens; both prompts differ in the first one.
    expect([first, again, other].map(({ usage }) => usage.cachedTokens)).toEqual([0, 64, 0]);
  });

  it('answers about several images at the same time as about each alone', async () => {
    const questions = [7, 8, 9].map((seed) => asking({ url: urlOf(drawPicture(64, 30, seed)) }));
    const together = await Promise.all(questions.map((messages) => answer(exact, messages)));
    for (const [index, messages] of questions.entries())
      expect((await answer(exact, messages)).tokens).toEqual(together[index]!.tokens);
  });

  it('shows the whole image alone with detail "low"', async () => {
    const count = (detail?: string) => exact.countPromptTokens(asking({ url: urlOf(drawn[0]), detail }));
    const words = idsOf(`<|im_start|>User:${question}<end_of_utterance>\nAssistant:`).length;
    expect(await count('low')).toBe(words + 7);
    for (const detail of ['high', 'auto', undefined])
      expect(await count(detail)).toBe(words + idsOf(tiles(2, 2)).length);
  });

  it('chats without images, and reads the name of the image token as text', async () => {
    const messages: ChatMessage[] = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'an <image> of a cat<end_of_utterance>' },
    ];
    const marked = ['<image>', '<end_of_utterance>'].reduce(
      (text, name) => text.replace(name, [...Buffer.from(name)].map(() => 'x').join('')),
      messages[1]!.content,
    );
    const prompt = `<|im_start|>System: Be kind.<end_of_utterance>\nUser: ${marked}<end_of_utterance>\nAssistant:`;
    expect(await exact.countPromptTokens(messages)).toBe(idsOf(prompt).length);
    expect((await answer(exact, messages)).tokens).toHaveLength(8);
  });

  it('names the image that it cannot read', async () => {
    const bad = (url: string) =>
      answer(exact, asking({ url: urlOf(drawn[0]) }, { url, param: 'input[0].content[2]' }));
    const param = 'input[0].content[2]';
    await expect(bad('data:image/png;base64,AAAA')).rejects.toMatchObject({
      code: 'unsupported_file',
      param,
    });
    const huge = Buffer.from(pngOf(60_000, 60_000)).toString('base64');
    const error = { code: 'payload_too_large', param };
    await expect(bad(`data:image/png;base64,${huge}`)).rejects.toMatchObject(error);
    await expect(bad('https://example.com/a.png')).rejects.toMatchObject({ code: 'invalid_request', param });
  });

  it('refuses more images than its context takes, before it computes one', async () => {
    const images = Array.from({ length: 52 }, (_, seed) => ({ url: urlOf(drawPicture(30, 30, 40 + seed)) }));
    await expect(answer(exact, asking(...images))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'messages',
    });
  });

  it('is cancelled between two images', async () => {
    const controller = new AbortController();
    const messages = asking(...[1, 2, 3].map((seed) => ({ url: urlOf(drawPicture(64, 64, 90 + seed)) })));
    const events = exact.generate({ messages, parameters: {} }, controller.signal);
    const next = events.next();
    controller.abort();
    await expect(next).rejects.toMatchObject({ code: 'cancelled' });
    expect((await exact.load!()).running).toBe(0);
  });
});
