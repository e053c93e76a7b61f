import { CallParser } from './call-parser.js';
import type { CallReader, CallReaderOptions } from './call-reader.js';
import { XmlCallParser } from './xml-call-parser.js';

/** A reader of calls in the form that the model writes them in. */
export function newCallReader(options: CallReaderOptions): CallReader {
  return options.format.name === 'qwen-xml' ? new XmlCallParser(options) : new CallParser(options);
}
