import { defineNode, retrievedDocumentSchema } from '#platform/contracts';
import { z } from 'zod';

/** Keeps the documents that contain a word. In the YAML file: `{ service: keyword-filter, params: { word: … } }`. */
export const keywordFilter = defineNode({
  service: 'keyword-filter',
  inputs: { documents: { kind: 'documents' } },
  output: 'documents',
  passThrough: 'documents',
  parameters: z.object({ word: z.string().min(1).describe('Documents without this word are dropped') }),
});

export const inputsSchema = z.object({ documents: z.array(retrievedDocumentSchema) });
