import { listParameters, type ListedParameter, type MegaServiceDefinition } from '#platform/dag';
import { ApiOperation } from '#platform/service-kit';
import { All, Controller, Inject, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';

const texts = z.record(z.string(), z.string());

/** Paths with descriptions; with `verbose` the services with their nodes. */
const serviceListAnswer = z.union([
  texts,
  z.object({ services: z.array(z.looseObject({ path: z.string(), name: z.string() })) }),
]);

/** Types by service and parameter; with `verbose` the parameters by mega service. */
const parameterListAnswer = z.union([
  z.record(z.string(), texts),
  z.record(z.string(), z.array(z.looseObject({ name: z.string(), node: z.string(), type: z.string() }))),
]);

/** The specification's answer to a wrong method. */
const wrongMethodAnswer = z.object({ error: z.string() });

/** The two lists of the OPEA specification, with the specification's texts for a wrong method. */
@Controller()
export class ListController {
  constructor(@Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog) {}

  @All('v1/list_service')
  @ApiOperation({
    summary: 'List the mega services, each with an example request',
    answer: serviceListAnswer,
    also: { 405: wrongMethodAnswer },
  })
  async services(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query('verbose') verbose?: string,
  ): Promise<void> {
    if (request.method !== 'GET') return sendWrongMethod(reply, 'Retrieve service name wrongly.');
    const definitions = this.megaServices.list();
    const describe = verbose === 'true' ? describeServicesVerbosely : describeServices;
    await reply.send(describe(definitions, `${request.protocol}://${request.host}`));
  }

  @All('v1/list_parameters')
  @ApiOperation({
    summary: 'List the parameters that a request may set',
    answer: parameterListAnswer,
    also: { 405: wrongMethodAnswer },
  })
  async parameters(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query('verbose') verbose?: string,
  ): Promise<void> {
    if (request.method !== 'GET') return sendWrongMethod(reply, 'Retrieve configurable parameter wrongly.');
    const listed = this.megaServices
      .list()
      .map((definition) => ({ definition, parameters: listParameters(definition) }));
    await reply.send(verbose === 'true' ? describeParametersVerbosely(listed) : describeParameters(listed));
  }
}

async function sendWrongMethod(reply: FastifyReply, error: string): Promise<void> {
  await reply.status(405).header('allow', 'GET').send({ error });
}

/** The endpoints of each gateway that do not belong to a mega service. */
const fixedEndpoints: Readonly<Record<string, { description: string; body: unknown }>> = {
  '/v1/chat/completions': {
    description: 'Chats through the OpenAI API. Without a model, the answer cites the documents.',
    body: { messages: [{ role: 'user', content: 'What does MegaNest do?' }] },
  },
  '/v1/embeddings': { description: 'Turns texts into vectors.', body: { input: 'What does MegaNest do?' } },
};

interface ServiceEntry {
  path: string;
  name: string;
  description: string;
  request: string;
}

/** The specification's map of path to description. Each description ends with an example request. */
function describeServices(
  definitions: readonly MegaServiceDefinition[],
  baseUrl: string,
): Record<string, string> {
  return Object.fromEntries(
    entries(definitions, baseUrl).map(({ path, description, request }) => [
      path,
      `${description} Try: ${request}`,
    ]),
  );
}

/** The list as objects, with the nodes of each mega service. */
function describeServicesVerbosely(definitions: readonly MegaServiceDefinition[], baseUrl: string) {
  const nodesOf = (name: string) =>
    [...(definitions.find((definition) => definition.name === name)?.nodes.values() ?? [])].map((node) => ({
      node: node.name,
      service: node.target.service,
      after: node.after,
      optional: node.optional,
    }));
  return {
    services: entries(definitions, baseUrl).map((entry) => ({ ...entry, nodes: nodesOf(entry.name) })),
  };
}

const defaultExample = { messages: 'What does MegaNest do?' };

function entries(definitions: readonly MegaServiceDefinition[], baseUrl: string): ServiceEntry[] {
  const fixed = Object.entries(fixedEndpoints).map(([path, { description, body }]) => ({
    path,
    name: path,
    description,
    request: curl(baseUrl, path, body),
  }));
  const own = definitions.flatMap(({ name, path, description, example = defaultExample }) =>
    path ? [{ path, name, description, request: curl(baseUrl, path, example) }] : [],
  );
  const taken = new Set(own.map(({ path }) => path));
  return [...fixed.filter(({ path }) => !taken.has(path)), ...own];
}

function curl(baseUrl: string, path: string, body: unknown): string {
  return `curl ${baseUrl}${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

/** A mega service with its parameters. */
export interface ListedMegaService {
  definition: MegaServiceDefinition;
  parameters: ListedParameter[];
}

/** The specification's map: micro service to parameter to data type, over all mega services. */
function describeParameters(listed: readonly ListedMegaService[]): Record<string, Record<string, string>> {
  const result: Record<string, Record<string, string>> = {};
  for (const { definition, parameters } of listed) {
    for (const { node, name, type } of parameters) {
      const service = definition.nodes.get(node)?.target.service ?? node;
      (result[service] ??= {})[name] = type;
    }
  }
  return result;
}

/** Type, default, description and JSON Schema of each parameter, by mega service. */
function describeParametersVerbosely(listed: readonly ListedMegaService[]) {
  return Object.fromEntries(
    listed.map(({ definition, parameters }) => [
      definition.name,
      parameters.map(({ name, node, type, description, default: preset, schema }) => ({
        name,
        node,
        type,
        description: description ?? null,
        default: preset ?? null,
        schema,
      })),
    ]),
  );
}
