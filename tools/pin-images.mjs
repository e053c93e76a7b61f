/**
 * `npm run pin:images`: adds the digest of each image after its tag (`nats:2.12.1-alpine@sha256:…`) in
 * docker-compose.yml, deploy/compose.proxy.yml, the Dockerfile and the Kubernetes overlays. Asks the registry through `docker buildx imagetools`.
 * Images with a digest are not changed; `--update` renews all digests. `--check` does not write, and fails if an image
 * does not have a digest.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files that contain names of third-party images. */
export const imageFiles = [
  'docker-compose.yml',
  'deploy/compose.proxy.yml',
  'deploy/Dockerfile',
  'deploy/kubernetes/overlays/small/nats.yaml',
  'deploy/kubernetes/overlays/small/postgres.yaml',
];

const reference = /((?:image: |FROM |COPY --from=))([a-z][\w./-]*:[\w.-]+)(@sha256:[0-9a-f]{64})?(?=\s)/g;

/** Adds the digest of each third-party image after its tag; `digestOf` looks a digest up. */
export function pinImages(text, digestOf, { update = false } = {}) {
  return text.replaceAll(reference, (_, before, image, digest) =>
    digest && !update ? `${before}${image}${digest}` : `${before}${image}@${digestOf(image)}`,
  );
}

/** Returns the third-party images of a text without a digest. */
export function floatingImages(text) {
  return [...text.matchAll(reference)].filter(([, , , digest]) => !digest).map(([, , image]) => image);
}

function askRegistry(image) {
  const format = '{{.Manifest.Digest}}';
  const args = ['buildx', 'imagetools', 'inspect', '--format', format, image];
  const digest = execFileSync('docker', args, { encoding: 'utf8' }).trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(`${image}: the registry did not return a digest: ${digest}`);
  return digest;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const known = new Map();
  const digestOf = (image) => known.get(image) ?? known.set(image, askRegistry(image)).get(image);
  const root = fileURLToPath(new URL('..', import.meta.url));
  for (const file of imageFiles.map((name) => join(root, name))) {
    const text = readFileSync(file, 'utf8');
    if (process.argv.includes('--check')) {
      for (const image of floatingImages(text)) {
        console.error(`${file}: ${image} does not have a digest`);
        process.exitCode = 1;
      }
    } else writeFileSync(file, pinImages(text, digestOf, { update: process.argv.includes('--update') }));
  }
  for (const [image, digest] of known) console.log(`${image}@${digest}`);
}
