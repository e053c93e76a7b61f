import { parseOrThrow, type NodeReply, type ParsedRequestOf } from '#platform/contracts';
import { RpcHandler } from '#platform/messaging';
import { Controller } from '@nestjs/common';
import { inputsSchema, keywordFilter } from './contract.js';

@Controller()
export class KeywordFilterController {
  @RpcHandler(keywordFilter.method)
  run({ inputs, parameters }: ParsedRequestOf<typeof keywordFilter.method>): NodeReply {
    const { documents } = parseOrThrow(inputsSchema, inputs);
    const kept = documents.filter(({ text }) => text.includes(parameters.word));
    return { output: kept, report: { dropped: documents.length - kept.length } };
  }
}
