import {
  ingest,
  listCollections,
  listDocuments,
  MegaNestError,
  readChunks,
  type IngestProgress,
  type ParsedRequestOf,
  type StoredChunk,
  type StoredDocument,
} from '#platform/contracts';
import { RpcHandler } from '#platform/messaging';
import { Controller } from '@nestjs/common';

/** The documents of the scripted data preparation. */
export const storedDocuments: readonly (StoredDocument & {
  texts: readonly (readonly [string, string])[];
})[] = [
  {
    id: 'document-1',
    filename: 'tower.md',
    source: null,
    collection: 'default',
    chunks: 4,
    bytes: 100,
    createdAt: '2026-01-01T00:00:00.000Z',
    texts: [
      ['Tower', 'The tower has 4711 steps.'],
      ['Tower', 'It was built in 1831 by Ada Quill.'],
      ['Visits', 'The tower opens at nine.'],
      ['Visits', 'A visit costs 4 crowns.'],
    ],
  },
  {
    id: 'document-2',
    filename: 'ferry.md',
    source: 'https://example.com/ferry.md',
    collection: 'harbor',
    chunks: 1,
    bytes: 20,
    createdAt: '2026-01-02T00:00:00.000Z',
    texts: [['Ferry', 'The ferry leaves at seven.']],
  },
];

/** A test double of the data preparation: it has two documents, and an ingest of a text makes two steps. */
@Controller()
export class ScriptedDataprep {
  @RpcHandler(listDocuments)
  list({ collection, search = '', offset, limit }: ParsedRequestOf<typeof listDocuments>) {
    const matching = storedDocuments.filter(
      (document) =>
        (collection === undefined || document.collection === collection) &&
        document.filename.includes(search),
    );
    const documents = matching.map(({ texts: _texts, ...document }) => document);
    return { documents: documents.slice(offset, offset + limit) };
  }

  @RpcHandler(listCollections)
  collections() {
    return { collections: ['default', 'harbor'] };
  }

  @RpcHandler(readChunks)
  chunks({ id, from, limit }: ParsedRequestOf<typeof readChunks>) {
    const found = storedDocuments.find((document) => document.id === id);
    if (!found) throw new MegaNestError('not_found', { what: `The document ${id}` });
    const { texts, ...document } = found;
    const chunks = texts.map(([heading, text], index): StoredChunk => ({
      id: `${id}-${index}`,
      index,
      text,
      metadata: { document_id: id, chunk_index: index, heading },
    }));
    return { document, chunks: chunks.slice(from, from + limit), has_more: from + limit < chunks.length };
  }

  @RpcHandler(ingest)
  async *ingest({ files }: ParsedRequestOf<typeof ingest>): AsyncGenerator<IngestProgress> {
    const [file] = files;
    if (!file) throw new MegaNestError('unreachable_url', { url: 'it', detail: 'the script reads no links' });
    const { filename } = file;
    yield { stage: 'embedding', filename, completed: 0, total: 1 };
    yield {
      stage: 'done',
      filename,
      completed: 1,
      total: 1,
      documents: [{ documentId: 'document-3', filename, chunks: 1, outcome: 'added' }],
    };
  }
}
