import {
  fileReferenceSchema,
  nodeAnnouncementSchema,
  nodeMetadataKey,
  nodeReplySchema,
  nodeRequestSchema,
  toJsonSchema,
  type JsonSchema,
  type RpcMethod,
} from '#platform/contracts';
import { z } from 'zod';
import { defaultTimeoutMs } from './call.js';
import { bucket } from './object-store.js';
import { maxBodyBytes } from './bodies.js';
import { aliveSubject, firstHeartbeatMs, header, heartbeatMs, instanceSubject, silenceMs } from './wire.js';

/** The AsyncAPI 3 document of the methods over NATS, from the schemas that validate their messages. */
export function asyncApiDocument(methods: readonly RpcMethod[], version: string) {
  const schemas: Record<string, JsonSchema> = {};
  const add = (name: string, schema: z.ZodType) => {
    const converted = toJsonSchema(schema, name, schemas);
    schemas[name] ??= converted;
  };
  add('FileReference', fileReferenceSchema);
  add('NodeAnnouncement', nodeAnnouncementSchema);
  add('Error', errorSchema);
  const named = [...methods, nodeMethod].map((method) => ({ method, id: idOf(method) }));
  for (const { method, id } of named) {
    add(`${id}.request`, method.request);
    add(`${id}.reply`, method.reply);
  }
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'MegaNest over NATS',
      version,
      license: { name: 'Apache-2.0' },
      description: asyncApiGuide,
    },
    defaultContentType: 'application/json',
    servers: { nats: { host: '127.0.0.1:4222', protocol: 'nats' } },
    channels: { ...Object.assign({}, ...named.map(channelsOf)), cancel: cancelChannel },
    operations: { ...Object.assign({}, ...named.map(operationOf)), cancel: cancelOperation },
    components: { schemas, messages: Object.assign(sharedMessages(), ...named.map(messagesOf)) },
  } as const;
}

/** The method of a custom service for mega services; `{service}` is its name. */
const nodeMethod: RpcMethod = {
  service: '{service}',
  method: 'run',
  subject: 'meganest.{service}.run',
  request: nodeRequestSchema,
  reply: nodeReplySchema,
  streaming: true,
  idempotent: true,
};

const errorSchema = z.object({
  code: z.string().describe('Stable, e.g. invalid_request, overloaded, service_unavailable'),
  status: z.int().describe('The HTTP status of the error'),
  type: z.string(),
  message: z.string(),
  param: z.string().nullable().describe('Path of the offending field'),
  service: z.string().optional(),
  retryAfter: z.int().optional().describe('Seconds'),
  final: z.literal(true).optional().describe('The service has tried again by itself'),
});

interface Named {
  method: RpcMethod;
  id: string;
}

function idOf({ service, method }: RpcMethod): string {
  return service === '{service}' ? 'node.run' : `${service}.${method}`;
}

const reference = (place: string) => ({ $ref: `#/${place}` });

function channelsOf({ method, id }: Named) {
  const parameters = method.service === '{service}' && {
    parameters: {
      service: { description: `Name of the service that announced itself under ${nodeMetadataKey}` },
    },
  };
  const ends = method.streaming ? { end: reference('components/messages/end') } : {};
  return {
    [id]: {
      address: method.subject,
      ...parameters,
      messages: { request: reference(`components/messages/${id}.request`) },
    },
    [`${id}.reply`]: {
      address: null,
      messages: {
        reply: reference(`components/messages/${id}.reply`),
        ...ends,
        alive: reference('components/messages/alive'),
        error: reference('components/messages/error'),
      },
    },
  };
}

function operationOf({ method, id }: Named) {
  const answers = method.streaming ? 'a stream of replies and an end' : 'one reply';
  const again = method.idempotent ? 'may be sent again' : 'must not be sent again';
  return {
    [id]: {
      action: 'receive',
      summary: `Answers ${answers}; ${again} when it failed.`,
      channel: reference(`channels/${id}`),
      messages: [reference(`channels/${id}/messages/request`)],
      bindings: { nats: { queue: method.service } },
      reply: {
        address: { location: '$message.header#/reply', description: "NATS's reply subject of the request" },
        channel: reference(`channels/${id}.reply`),
      },
    },
  };
}

function messagesOf({ id }: Named) {
  return {
    [`${id}.request`]: { headers: callHeaders, payload: reference(`components/schemas/${id}.request`) },
    [`${id}.reply`]: { payload: reference(`components/schemas/${id}.reply`) },
  };
}

const text = (description: string) => ({ type: 'string', description });

const marker = (kind: string) => ({ type: 'string', const: kind });
const headersOf = (properties: object) => ({ type: 'object', properties });

const callHeaders = {
  type: 'object',
  properties: {
    [header.callId]: text('Unique; names the call when it is cancelled'),
    [header.timeout]: text(`Remaining milliseconds; ${defaultTimeoutMs} if absent`),
    [header.requestId]: text('Shared by all calls that one user request causes'),
    [header.traceparent]: text('W3C trace context'),
    [header.priority]: text('`bulk` for work in the background, which other calls may overtake'),
  },
};

function sharedMessages() {
  return {
    alive: {
      summary: 'Heartbeat of a running call',
      headers: headersOf({
        [header.stream]: marker('alive'),
        [header.instance]: text('Optional: who runs the call, as under "Death" of the description'),
      }),
      payload: { description: 'empty' },
    },
    end: {
      summary: 'End of a stream',
      headers: headersOf({ [header.stream]: marker('end'), [header.count]: text('Number of its messages') }),
      payload: { description: 'empty' },
    },
    error: {
      summary: 'The call failed; nothing follows',
      headers: headersOf({ [header.errorCode]: text('Status'), [header.error]: text('Message, one line') }),
      payload: reference('components/schemas/Error'),
    },
    cancel: { summary: 'Stop this call', payload: { description: 'empty' } },
  };
}

const cancelChannel = {
  address: 'meganest.cancel.{callId}',
  parameters: { callId: { description: `The ${header.callId} of the call` } },
  messages: { cancel: reference('components/messages/cancel') },
};

const cancelOperation = {
  action: 'receive',
  summary: 'Every instance listens; the one that runs the call stops it.',
  channel: reference('channels/cancel'),
  messages: [reference('channels/cancel/messages/cancel')],
};

/** How calls over NATS work, for the AsyncAPI document. */
const asyncApiGuide = `
Calls between MegaNest's services, as plain NATS: any language with a NATS client can serve or call them.

**A call** is a JSON message to \`meganest.<service>.<method>\` with a reply subject; an empty body counts as \`{}\`. All
instances of a service subscribe in one queue group, its name, so that each call goes to one of them. Operations are
written as the service sees them: it receives the request and sends to the reply subject.

**A reply** is one JSON message on the reply subject. **A stream** is several of them and then an empty message with
\`${header.stream}: end\` and \`${header.count}\`, the number of messages, so that a lost one is noticed.

**Heartbeats.** While a call runs, the service sends an empty message with \`${header.stream}: alive\` to the reply subject every
${heartbeatMs} ms, with \`meganest.cancel.<call id>\` as its own reply subject: when the caller is gone, NATS itself answers "no
responders" there, and the call stops. A caller that hears nothing for ${silenceMs} ms takes the service for dead.

**Death** is noticed sooner of a service that does three more things: it listens on \`${aliveSubject('<service>', '<id>')}\` for as long as
it is connected, where no answer is wanted; it answers \`${aliveSubject('<service>')}\` with that id as text, up to 64
letters, digits, underscores and dashes; and it names the id as \`${header.instance}\` of its heartbeats, the first one ${firstHeartbeatMs} to
${2 * firstHeartbeatMs} ms after the call. Callers that wait ask both subjects; "no
responders" five times in a row on that of an instance loses its calls.

**Load.** An instance may take calls of its own: it listens on \`${instanceSubject('meganest.<service>.<method>', '<id>')}\` for each
method, outside the queue group, and answers \`${aliveSubject('<service>')}\` with \`${header.load}\`, the number of its calls under way, or \`none\`
when it is about to stop. Where all instances that answer do so, callers choose the less busy of two random ones; a call that one of
them refuses as \`overloaded\` goes to another. Other services are left to the queue group.

**Priority.** A call with \`${header.priority}: bulk\` is work in the background, such as the texts of an ingest. A service may let
other calls overtake it, and says in \`${header.bulk}\`, beside its load, how many of its calls are bulk work: for a caller that
waits they count as one call.

**Cancel.** Any message to \`meganest.cancel.<call id>\` stops the call; every instance listens there.

**Deadline.** \`${header.timeout}\` holds the milliseconds that are left, a duration, so that clocks need not agree.

**Errors** are a message with NATS's own headers \`${header.errorCode}\` and \`${header.error}\` (ADR-32) and the error as JSON.
An unknown method or no instance is NATS's 503 "no responders".

**Large bodies.** A message holds what the server's max_payload says, 1 MiB by default. A longer reply is cut into messages, in order,
for callers that sent \`${header.accept}: parts\`; others get \`payload_too_large\`. Each part has \`${header.part}\`: \`more\`, or on the last one
the bytes of all. A longer request is sent without a body and with \`${header.body}\`, its bytes. The instance that gets it answers
with an empty message, \`${header.stream}: send\` and a reply subject of its own, where the caller sends the parts. A body has at most ${maxBodyBytes} bytes.

**Limits.** Vectors are base64 of little-endian
Float32. Files travel by reference: put the bytes into the JetStream object store \`${bucket}\` and send the
\`FileReference\`; objects are dropped after a day.

**Discovery** is NATS's service protocol (ADR-32): \`$SRV.PING\`, \`$SRV.INFO\`, \`$SRV.STATS\`. A service that mega services
shall use puts a \`NodeAnnouncement\` as JSON under \`${nodeMetadataKey}\` of its metadata and serves \`node.run\`.
`.trim();
