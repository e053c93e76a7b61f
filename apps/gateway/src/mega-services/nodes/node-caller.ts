import type { NodeRunner } from '#dag';
import { RpcClient } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { asksLanguageModel } from '../../models/model-catalog.js';
import { AnnouncedServices } from './announced-services.js';
import { builtInNodes } from './built-in-nodes.js';
import { conversationOf, type MegaServiceRequest } from '../mega-service-request.js';
import { QuestionCondenser } from './question-condenser.js';

/** Calls the service behind a node of a DAG over NATS. */
@Injectable()
export class NodeCaller {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(AnnouncedServices) private readonly announced: AnnouncedServices,
    @Inject(QuestionCondenser) private readonly condenser: QuestionCondenser,
    @Inject(gatewayEnvironment) private readonly environment: Pick<GatewayEnvironment, 'DEFAULT_MODEL'>,
  ) {}

  readonly run: NodeRunner = (context) => {
    const builtIn = builtInNodes.get(context.service);
    const request = context.request as MegaServiceRequest;
    const { requestId, traceparent, patience } = request;
    const { deadline, signal } = context;
    // An attempt with a timeout of its own has that one alone.
    const times = deadline === request.deadline ? { deadline, patience } : { deadline };
    const options = { requestId, traceparent, ...times, signal };
    if (!builtIn) return this.announced.call(context, options);
    const { report } = context;
    const condensing = { ...options, model: request.languageModel ?? this.environment.DEFAULT_MODEL };
    const searchedFor = () =>
      this.condenser.searchedFor(conversationOf({ context, request }), {
        request,
        options: condensing,
        report,
      });
    const named = context.parameters['model'] as string | undefined;
    const model = asksLanguageModel(builtIn) ? (named ?? this.environment.DEFAULT_MODEL) : undefined;
    return builtIn.call({
      client: this.client,
      context,
      request,
      options: { ...options, model },
      searchedFor,
    });
  };
}
