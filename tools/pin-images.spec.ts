import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from '#testing';
import { imageFiles, pinImages } from './pin-images.mjs';

const digest = `sha256:${'0'.repeat(64)}`;
const other = `sha256:${'f'.repeat(64)}`;

it('writes the digest behind each tag, once', () => {
  const text = `FROM node:24.1-slim AS a\nFROM a AS b\nCOPY --from=node:24.1-slim /x /x\n    image: nats:2.1\n    image: me:\${V:-local}\n`;
  const pinned = pinImages(text, () => digest);
  expect(pinned).toBe(
    `FROM node:24.1-slim@${digest} AS a\nFROM a AS b\nCOPY --from=node:24.1-slim@${digest} /x /x\n    image: nats:2.1@${digest}\n    image: me:\${V:-local}\n`,
  );
  expect(pinImages(pinned, () => other)).toBe(pinned);
  expect(pinImages(pinned, () => other, { update: true })).toContain(`nats:2.1@${other}\n`);
});

it('finds the images of every file, each with an exact version', () => {
  const images = imageFiles.flatMap((file) => {
    const found: string[] = [];
    pinImages(readFileSync(join(repositoryRoot, file), 'utf8'), (image) => {
      found.push(image);
      return digest;
    });
    return found;
  });
  expect(new Set(images.map((image) => image.split(':')[0]))).toEqual(
    new Set(['nats', 'pgvector/pgvector', 'node', 'nvidia/cuda']),
  );
  expect(images.filter((image) => !/:\d+\.\d+\.\d+/.test(image))).toEqual([]);
});
