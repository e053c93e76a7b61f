export { asksForCode } from './asks-for-code.js';
export {
  continuesBlock,
  hasRows,
  headingsOf,
  innermostHeading,
  partsOf,
  placeOf,
  type ChunkPart,
  type PartKind,
} from './chunk.js';
export { evidenceBlocks, type EvidenceBlock, type EvidenceRequest } from './evidence-blocks.js';
export { fenced, renderChunks, repeatedParts } from './render-chunks.js';
export { tableOf } from './row-table.js';
export { Sections } from './sections.js';
