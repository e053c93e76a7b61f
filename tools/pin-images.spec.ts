import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { repositoryRoot } from '#platform/testing';
import { floatingImages, imageFiles, pinImages } from './pin-images.mjs';

const digest = `sha256:${'0'.repeat(64)}`;
const other = `sha256:${'f'.repeat(64)}`;

it('writes the digest behind each tag, once', () => {
  const text = `FROM node:24.1-slim AS a\nFROM a AS b\nCOPY --from=node:24.1-slim /x /x\n    image: nats:2.1\n    image: me:\${V:-local}\n`;
  const pinned = pinImages(text, () => digest);
  expect(pinned).toBe(
    `FROM node:24.1-slim@${digest} AS a\nFROM a AS b\nCOPY --from=node:24.1-slim@${digest} /x /x\n    image: nats:2.1@${digest}\n    image: me:\${V:-local}\n`,
  );
  expect(pinImages(pinned, () => other)).toBe(pinned);
  expect(floatingImages(text)).toEqual(['node:24.1-slim', 'node:24.1-slim', 'nats:2.1']);
  expect(floatingImages(pinned)).toEqual([]);
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
    new Set(['nats', 'haproxy', 'pgvector/pgvector', 'node', 'nvidia/cuda']),
  );
  expect(images.filter((image) => !/:\d+\.\d+\.\d+/.test(image))).toEqual([]);
});

it('comes before the release builds its images, and the release refuses a tag without a digest', () => {
  const workflow = parse(readFileSync(join(repositoryRoot, '.github/workflows/release.yml'), 'utf8')) as {
    jobs: { images: { steps: { uses?: string; run?: string; with?: Record<string, unknown> }[] } };
  };
  const { steps } = workflow.jobs.images;
  const at = (text: string) => steps.findIndex(({ run, uses }) => (run ?? uses ?? '').includes(text));
  expect(at('pin-images.mjs --check')).toBeGreaterThan(-1);
  expect(at('pin-images.mjs --check')).toBeLessThan(at('docker/build-push-action'));
  // The action would take the files of the commit otherwise.
  expect(steps[at('docker/build-push-action')]?.with).toMatchObject({ context: '.', provenance: 'mode=max' });
});
