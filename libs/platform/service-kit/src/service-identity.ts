import { projectRoot } from '#platform/foundation';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The identity of a service, for health, discovery, metrics and logs. */
export interface ServiceIdentity {
  /** Short name, also the NATS queue group, e.g. `embedding`. */
  service: string;
  title: string;
  description: string;
  /**
   * The text of a 405 answer by path, as OPEA's specification requires it: `{"error": "<text>"}`. Other paths use the
   * usual error format.
   */
  wrongMethodTexts?: Readonly<Record<string, string>>;
}

/** Injection token of the {@link ServiceIdentity}. */
export const serviceIdentity = Symbol('serviceIdentity');

/** The product's version, from package.json. */
export const version: string = (
  JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }
).version;
