import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectRoot, testData } from '#paths';

/** A folder of a bundled model that holds a file: in the product, or beside the checkout, where every form of it lies. */
export function modelFolderWith(model: string, file: string): string | undefined {
  const folders = [path.join(projectRoot, 'models'), testData('models')];
  return folders
    .map((folder) => path.join(folder, model))
    .find((folder) => existsSync(path.join(folder, file)));
}
