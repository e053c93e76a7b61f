import { projectRoot } from '#paths';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Who a service is, for health, discovery, metrics and logs. */
export interface ServiceIdentity {
  /** Short name, also the NATS queue group, e.g. `embedding`. */
  service: string;
  title: string;
  description: string;
  /**
   * What OPEA's specification has a path say under a wrong method, by path: `{"error": "<text>"}` with status 405. Other
   * paths answer as every error does.
   */
  wrongMethodTexts?: Readonly<Record<string, string>>;
}

/** Injection token of the {@link ServiceIdentity}. */
export const serviceIdentity = Symbol('serviceIdentity');

/** The product's version, from package.json. */
export const version: string = (
  JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }
).version;
