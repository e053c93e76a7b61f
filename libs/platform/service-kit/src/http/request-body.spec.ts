import { once } from 'node:events';
import { Agent, request as send, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { MegaNestError } from '#platform/contracts';
import multipart from '@fastify/multipart';
import * as fc from 'fast-check';
import fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, it, afterAll, beforeAll } from 'vitest';
import { decodeBody, parseJsonBody, readFormParts } from './request-body.js';

describe('decodeBody', () => {
  it('refuses what is not UTF-8', () => {
    expect(decodeBody(Buffer.from('{"a":"é"}'))).toBe('{"a":"é"}');
    expect(() => decodeBody(Buffer.of(0x22, 0xc3, 0x28, 0x22))).toThrow(/not valid UTF-8/);
  });
});

describe('parseJsonBody', () => {
  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 10 }), (text) => {
        expect(parseJsonBody(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('takes an empty body as an empty object', () => {
    expect(parseJsonBody('  ')).toEqual({});
  });

  it('says what is wrong with broken JSON', () => {
    expect(() => parseJsonBody('{"a":')).toThrow(/not valid JSON: .+/);
  });

  it('refuses nesting beyond 64 levels, but not brackets inside strings', () => {
    expect(() => parseJsonBody('['.repeat(65) + ']'.repeat(65))).toThrow(/deeper than 64/);
    expect(parseJsonBody(JSON.stringify('['.repeat(100)))).toBe('['.repeat(100));
    expect(parseJsonBody(JSON.stringify(`"${'{'.repeat(100)}\\`))).toBe(`"${'{'.repeat(100)}\\`);
  });
});

const head = (name: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a.bin"\r\nContent-Type: a/b\r\n\r\n`;
const tail = '\r\n--x--\r\n';

describe('readFormParts', () => {
  let app: FastifyInstance;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** How the last form ended. */
  let ended: Promise<unknown>;
  let connections = 0;

  beforeAll(async () => {
    app = fastify();
    app.server.on('connection', () => (connections += 1));
    await app.register(multipart);
    app.post('/', async (request, reply) => {
      const names: string[] = [];
      const limits = { files: 1_200, fields: 2, fieldSize: 10 };
      const reading = readFormParts(request, limits, async (part) => {
        if (part.fieldname === 'refused') throw new MegaNestError('invalid_request', { param: 'refused' });
        if (part.type === 'file') for await (const piece of part.file) void piece;
        names.push(part.fieldname);
      });
      ended = reading.then(
        () => names,
        (error: unknown) => error,
      );
      const end = await ended;
      return reply.status(end instanceof MegaNestError ? end.status : 200).send(end);
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    agent.destroy();
    await app.close();
  });

  function begin(contentType = 'multipart/form-data; boundary=x'): ClientRequest {
    const { port } = app.server.address() as AddressInfo;
    return send({ port, agent, method: 'POST', path: '/', headers: { 'content-type': contentType } });
  }

  async function post(body: string): Promise<{ status?: number; text: string }> {
    const request = begin();
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { status: response.statusCode, text: await text(response) };
  }

  it('hands over every part', async () => {
    const field = '--x\r\nContent-Disposition: form-data; name="b"\r\n\r\nvalue\r\n';
    expect(await post(`${field}${head('a')}bytes${tail}`)).toMatchObject({ status: 200, text: '["b","a"]' });
  });

  it('takes as many files as the limit allows, also more than a thousand', async () => {
    const files = Array.from({ length: 1_199 }, () => `${head('a')}x\r\n`).join('');
    const { status, text: names } = await post(`${files}${head('b')}x${tail}`);
    expect(status).toBe(200);
    expect(JSON.parse(names)).toHaveLength(1_200);
  });

  it('reads what is left of a refused upload, so that its connection serves the next request', async () => {
    const long = 'y'.repeat(2_000_000);
    await post(`${head('a')}bytes${tail}`);
    const before = connections;
    const refused = await post(`${head('refused')}${long}\r\n${head('a')}${long}${tail}`);
    expect(refused.status).toBe(400);
    const next = await post(`${head('a')}bytes${tail}`);
    expect(next).toMatchObject({ status: 200, text: '["a"]' });
    expect(connections).toBe(before);
  });

  it.each([
    ['ends within a file', `${head('a')}bytes`],
    ['ends within a head', '--x\r\nContent-Disposition: form-da'],
    ['has too many files', `${`${head('a')}1\r\n`.repeat(1_200)}${head('b')}2${tail}`],
    ['has a part without a name', `--x\r\nContent-Disposition: form-data\r\n\r\nvalue${tail}`],
    ['has a part with an empty name', `${head('')}bytes${tail}`],
    ['has the name of a prototype’s property', `${head('__proto__')}bytes${tail}`],
  ])('refuses a form that %s', async (_what, body) => {
    expect(await post(body)).toMatchObject({ status: 400 });
  });

  it.each([
    ['without a disposition', '--x\r\n\r\n'],
    ['of another disposition', '--x\r\nContent-Disposition: attachment; name="a"\r\n\r\n'],
  ])('reads a form to its end that has a part %s, which is left out', async (_what, unnamed) => {
    for (const size of [10, 20_000, 70_000, 300_000]) {
      const body = `${unnamed}${'x'.repeat(size)}${tail}`;
      expect(await post(body)).toMatchObject({ status: 200, text: '[]' });
    }
  });

  it('ends where the client leaves in the middle of a file', async () => {
    const request = begin();
    request.on('error', () => {});
    ended = Promise.resolve('not begun');
    const before = ended;
    request.write(`${head('a')}bytes`);
    await expect.poll(() => ended !== before).toBe(true);
    request.destroy();
    expect(await ended).toMatchObject({ code: 'cancelled' });
  });
});

it('refuses a body with too many elements before it is parsed', () => {
  expect(() => parseJsonBody(`{"model":"nano-chat","input":[${'{},'.repeat(400_000)}{}]}`)).toThrow(
    expect.objectContaining({ code: 'invalid_request', status: 400 }),
  );
});
