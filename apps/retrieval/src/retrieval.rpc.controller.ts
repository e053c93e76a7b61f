import { decodeVector, retrieve, type ParsedRequestOf, type ReplyOf, invalidField } from '#contracts';
import { RpcHandler } from '#messaging';
import { Controller, Inject } from '@nestjs/common';
import { RetrievalService } from './retrieval.service.js';

@Controller()
export class RetrievalRpcController {
  constructor(@Inject(RetrievalService) private readonly retrieval: RetrievalService) {}

  @RpcHandler(retrieve)
  retrieve({ embedding, ...request }: ParsedRequestOf<typeof retrieve>): Promise<ReplyOf<typeof retrieve>> {
    return this.retrieval.retrieve({ ...request, embedding: decodeEmbedding(embedding) });
  }
}

function decodeEmbedding(encoded: string | undefined): Float32Array | undefined {
  if (encoded === undefined) return undefined;
  if (Buffer.byteLength(encoded, 'base64') % Float32Array.BYTES_PER_ELEMENT === 0)
    return decodeVector(encoded);
  throw invalidField('embedding', 'is not the base64 of Float32 numbers');
}
