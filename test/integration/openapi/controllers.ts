import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '#testing';
import type { Type } from '@nestjs/common';
import { CONTROLLER_WATERMARK } from '@nestjs/common/constants.js';

/** The controllers of a folder's `*.controller.ts` files, all of those below it. */
export async function controllersOf(folder: string): Promise<Type[]> {
  const root = join(repositoryRoot, folder);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const modules = await Promise.all(
    files
      .filter((file) => file.endsWith('.controller.ts'))
      .map((file) => import(join(root, file)) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) => Object.values(module).filter(isController));
}

function isController(value: unknown): value is Type {
  return typeof value === 'function' && Reflect.hasMetadata(CONTROLLER_WATERMARK, value);
}
