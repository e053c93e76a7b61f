import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '#platform/testing';
import type { Type } from '@nestjs/common';
import { CONTROLLER_WATERMARK } from '@nestjs/common/constants.js';

/** The exported controllers of a folder's sources. Errors: a controller that is not exported, which no test would see. */
export async function controllersOf(folder: string): Promise<Type[]> {
  const root = join(repositoryRoot, folder);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
  return (await Promise.all(sources.map((file) => controllersOfFile(join(root, file))))).flat();
}

async function controllersOfFile(path: string): Promise<Type[]> {
  const declared = readFileSync(path, 'utf8').match(/^@Controller\(/gm)?.length ?? 0;
  if (declared === 0) return [];
  const exported = Object.values((await import(path)) as Record<string, unknown>).filter(isController);
  if (exported.length !== declared)
    throw new Error(
      `${path} declares ${declared} controllers and exports ${exported.length}: export each of them`,
    );
  return exported;
}

function isController(value: unknown): value is Type {
  return typeof value === 'function' && Reflect.hasMetadata(CONTROLLER_WATERMARK, value);
}
