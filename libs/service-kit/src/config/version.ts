import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#paths';

/** The product's version, from package.json. */
export const version: string = (
  JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }
).version;
