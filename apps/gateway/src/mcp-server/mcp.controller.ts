import { MegaNestError } from '#platform/contracts';
import {
  ApiOperation,
  Call,
  HiddenRoute,
  keepAlive,
  keepAliveMs,
  ownerOf,
  SchemaPipe,
  stoppingError,
  type HttpCall,
} from '#platform/service-kit';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { Body, Controller, Delete, Get, Inject, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { EventLog } from './event-log.js';
import { McpServers } from './mcp-server.js';
import { McpSessions, type McpSession } from './mcp-sessions.js';

/** A message of JSON-RPC, or several ones. */
const messageSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
});
const messagesSchema = z.union([messageSchema, z.array(messageSchema)]);

/** An error of JSON-RPC, or of HTTP in OpenAI's form. */
const errorsSchema = z.looseObject({
  error: z.looseObject({ message: z.string(), code: z.union([z.int(), z.string()]).nullable() }),
});

/** What a client of Streamable HTTP has to accept. */
const bothTypes = 'application/json, text/event-stream';

/** The MCP server: Streamable HTTP at `/mcp`, and the transport of older clients at `/sse`. */
@Controller()
export class McpController {
  constructor(
    @Inject(McpServers) private readonly servers: McpServers,
    @Inject(McpSessions) private readonly sessions: McpSessions,
  ) {}

  /**
   * Takes the messages of a client. `initialize` opens a session; a message without a session is answered on its own,
   * so that a script may call a tool with one request.
   */
  @Post('mcp')
  @ApiOperation({
    summary: 'Send messages of the Model Context Protocol (Streamable HTTP)',
    answer: messagesSchema,
    events: messageSchema,
    also: { 202: undefined },
    errors: errorsSchema,
  })
  async receive(
    @Body(new SchemaPipe(messagesSchema)) body: z.output<typeof messagesSchema>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Call() call: HttpCall,
  ): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const opens = [body].flat().some((message) => isInitializeRequest(message));
    if (typeof id !== 'string' && !opens) return this.#answerAlone(body, request, reply, call);
    const transport = typeof id === 'string' ? this.#streamable(id, request) : await this.#open(request);
    await this.#handle(transport, { request, reply, call, body });
  }

  /** Streams the server's own messages, or those that the client missed after `last-event-id`. */
  @Get('mcp')
  @HiddenRoute('a stream of a session that POST has opened')
  async stream(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Call() call: HttpCall,
  ): Promise<void> {
    if (this.sessions.stopping) throw stoppingError();
    await this.#handle(this.#streamable(sessionIdOf(request), request), { request, reply, call });
  }

  @Delete('mcp')
  @HiddenRoute('ends a session that POST has opened')
  async end(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Call() call: HttpCall,
  ): Promise<void> {
    await this.#handle(this.#streamable(sessionIdOf(request), request), { request, reply, call });
  }

  /** The stream of the transport of 2024: its first event names the path for messages. */
  @Get('sse')
  @HiddenRoute('the transport of clients before 2025')
  async openSse(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (this.sessions.stopping) throw stoppingError();
    hijack(reply);
    const transport = new SSEServerTransport('/sse/messages', reply.raw);
    const id = transport.sessionId;
    const close = () => void transport.close();
    const server = this.servers.create();
    await server.connect(transport);
    this.#closing(transport, () => this.sessions.remove(id));
    this.sessions.add({ id, owner: ownerOf(request), transport, endStreams: close });
    // The session lives as long as its stream.
    reply.raw.once('close', this.sessions.use(id));
    keepOpen(reply);
  }

  @Post('sse/messages')
  @HiddenRoute('the stream of the session names this path')
  async receiveSse(
    @Query('sessionId') id: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Call() call: HttpCall,
  ): Promise<void> {
    const transport = this.sessions.find(id, ownerOf(request))?.transport;
    if (!(transport instanceof SSEServerTransport)) throw unknownSession();
    hijack(reply);
    await transport.handlePostMessage(withCall(request.raw, call), reply.raw, body);
  }

  async #open(request: FastifyRequest): Promise<StreamableHTTPServerTransport> {
    const owner = ownerOf(request);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventLog(),
      onsessioninitialized: (id) => {
        const session: McpSession = {
          id,
          owner,
          transport,
          endStreams: () => transport.closeStandaloneSSEStream(),
        };
        this.sessions.add(session);
      },
    });
    await this.servers.create().connect(transport);
    this.#closing(transport, () => this.sessions.remove(transport.sessionId ?? ''));
    return transport;
  }

  /** The server has set the first listener, which stays. */
  #closing(transport: { onclose?: (() => void) | undefined }, listener: () => void): void {
    const { onclose } = transport;
    const closed = () => {
      listener();
      onclose?.();
    };
    Object.assign(transport, { onclose: closed });
  }

  /** Errors: not_found, so that the client opens another session. */
  #streamable(id: string, request: FastifyRequest): StreamableHTTPServerTransport {
    const transport = this.sessions.find(id, ownerOf(request))?.transport;
    if (transport instanceof StreamableHTTPServerTransport) return transport;
    throw unknownSession();
  }

  async #answerAlone(
    body: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    call: HttpCall,
  ): Promise<void> {
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = this.servers.create();
    await server.connect(transport);
    reply.raw.once('close', () => void server.close());
    // The answer is JSON, which each caller takes.
    request.raw.headers.accept = bothTypes;
    request.raw.rawHeaders.push('accept', bothTypes);
    await this.#handle(transport, { request, reply, call, body });
  }

  async #handle(
    transport: StreamableHTTPServerTransport,
    {
      request,
      reply,
      call,
      body,
    }: { request: FastifyRequest; reply: FastifyReply; call: HttpCall; body?: unknown },
  ): Promise<void> {
    const release = this.sessions.use(transport.sessionId ?? '');
    reply.raw.once('close', release);
    hijack(reply);
    await transport.handleRequest(withCall(request.raw, call), reply.raw, body);
  }
}

function sessionIdOf({ headers }: FastifyRequest): string {
  const id = headers['mcp-session-id'];
  if (typeof id === 'string') return id;
  throw new MegaNestError('invalid_request', {
    detail: 'mcp-session-id: is required; the answer to initialize has it',
    param: 'mcp-session-id',
  });
}

function unknownSession(): MegaNestError {
  return new MegaNestError('not_found', { what: 'The MCP session', param: 'mcp-session-id' });
}

/** Adds the call to a request, where the handlers of the server find it. */
function withCall(raw: IncomingMessage, call: HttpCall): IncomingMessage & { auth: AuthInfo } {
  const auth: AuthInfo = { token: '', clientId: call.owner ?? '', scopes: [], extra: { call } };
  return Object.assign(raw, { auth });
}

/** Hands the answer to the SDK, with the headers that the gateway has set. */
function hijack(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  reply.hijack();
}

/** Proxies close a connection after some time of silence. */
function keepOpen({ raw }: FastifyReply): void {
  const timer = setInterval(() => raw.write(keepAlive), keepAliveMs).unref();
  raw.once('close', () => clearInterval(timer));
}
