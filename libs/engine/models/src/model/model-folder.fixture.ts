import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectRoot, testData } from '#platform/foundation';

/** Returns a folder of a bundled model that has the file: in the product, or in the test data. */
export function modelFolderWith(model: string, file: string): string | undefined {
  const folders = [path.join(projectRoot, 'models'), testData('models')];
  return folders
    .map((folder) => path.join(folder, model))
    .find((folder) => existsSync(path.join(folder, file)));
}
