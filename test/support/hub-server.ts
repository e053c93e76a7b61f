import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/** What goes wrong with a file, each time that it is asked for, until `times` are over. */
export interface Fault {
  /** End of the file's name. */
  readonly file: string;
  readonly times: number;
  readonly kind: 'break' | 'status' | 'hold';
  /** For `break` and `hold`: the share of the file that is sent before. */
  readonly at?: number;
  /** For `status`. */
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

/** A request as it came. */
export interface SeenRequest {
  readonly origin: 'hub' | 'storage';
  readonly path: string;
  readonly range?: string;
  readonly authorization?: string;
}

const largeFile = /\.(safetensors|onnx|onnx_data)$/;

/**
 * A server that speaks the protocol of the Hugging Face hub for the models of a folder (`organization/name/files`): the
 * list of a model's files with sizes and hashes, files by revision, a redirect to a storage of another origin for large
 * ones, ranges, tokens; and faults that tests ask for.
 */
export class HubServer {
  readonly requests: SeenRequest[] = [];
  readonly faults: Fault[] = [];
  /** Asked of every request to the hub where it is set. */
  token: string | undefined;
  /** Hashes that the hub states instead of the true ones, by the end of the file's name. */
  readonly wrongHashes = new Map<string, string>();
  /** Commits that the hub states instead of those of the content, by id. */
  readonly commits = new Map<string, string>();
  /** Sizes that the hub states instead of the true ones, by the end of the file's name. */
  readonly wrongSizes = new Map<string, number>();
  private readonly waiting = new Map<string, () => void>();
  private readonly held: ServerResponse[] = [];
  private readonly known = new Map<string, { sha1: string; sha256: string }>();

  private constructor(
    private readonly folder: string,
    private readonly hub: Server,
    private readonly storage: Server,
  ) {
    hub.on('request', (request, response) => this.answerHub(request, response));
    storage.on('request', (request, response) => this.answerStorage(request, response));
  }

  static async start(folder: string): Promise<HubServer> {
    const servers = [createServer(), createServer()] as const;
    await Promise.all(
      servers.map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))),
    );
    return new HubServer(folder, ...servers);
  }

  get url(): string {
    return addressOf(this.hub);
  }

  /** Resolves when a `hold` fault has sent its share of a file. */
  whenHeld(file: string): Promise<void> {
    return new Promise((resolve) => this.waiting.set(file, resolve));
  }

  /** Breaks the connections that `hold` faults keep. */
  breakHeld(): void {
    for (const response of this.held.splice(0)) response.destroy();
  }

  /** Requests for a file, by the end of its name. */
  asked(file: string, origin: SeenRequest['origin'] = 'storage'): SeenRequest[] {
    return this.requests.filter((request) => request.origin === origin && request.path.endsWith(file));
  }

  /** The commit of a model: it changes with any of its files. */
  commitOf(id: string): string {
    const stated = this.commits.get(id);
    if (stated !== undefined) return stated;
    const hash = createHash('sha1');
    for (const name of this.filesOf(id)) hash.update(name).update(this.hashesOf(`${id}/${name}`).sha1);
    return hash.digest('hex');
  }

  async close(): Promise<void> {
    for (const server of [this.hub, this.storage]) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  }

  private answerHub(request: IncomingMessage, response: ServerResponse): void {
    const address = new URL(request.url ?? '/', 'http://hub');
    this.note('hub', request);
    if (this.token !== undefined && request.headers.authorization !== `Bearer ${this.token}`)
      return end(response, 401, 'Invalid username or password.');
    const info = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/([^/]+)$/.exec(address.pathname);
    if (info) return this.describe(info[1] ?? '', info[2] ?? '', response);
    const [, id = '', revision = '', file = ''] =
      /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(address.pathname) ?? [];
    if (!this.knows(id, revision) || !this.filesOf(id).includes(file))
      return end(response, 404, 'Entry not found');
    if (this.fail(file, 'status', response)) return undefined;
    const { sha1, sha256 } = this.stated(id, file);
    response.setHeader('x-repo-commit', this.commitOf(id));
    if (!largeFile.test(file)) {
      response.setHeader('etag', `"${sha1}"`);
      return this.send(`${id}/${file}`, request, response);
    }
    response.setHeader('x-linked-etag', `"${sha256}"`);
    response.setHeader('location', `${addressOf(this.storage)}/${id}/${file}?X-Amz-Signature=1`);
    return end(response, 302, '');
  }

  private answerStorage(request: IncomingMessage, response: ServerResponse): void {
    this.note('storage', request);
    // As signed addresses of a store do.
    if (request.headers.authorization) return end(response, 400, 'Only one auth mechanism allowed');
    const file = new URL(request.url ?? '/', 'http://storage').pathname.slice(1);
    if (this.fail(file, 'status', response)) return undefined;
    return this.send(file, request, response);
  }

  private describe(id: string, revision: string, response: ServerResponse): void {
    if (this.fail(id, 'status', response)) return;
    if (!this.knows(id, revision)) return end(response, 404, '{"error":"Repository not found"}');
    const siblings = this.filesOf(id).map((rfilename) => {
      const size = this.wrongSizes.get(rfilename) ?? statSync(path.join(this.folder, id, rfilename)).size;
      const { sha1, sha256 } = this.stated(id, rfilename);
      const lfs = largeFile.test(rfilename) && { lfs: { sha256, size, pointerSize: 130 } };
      return { rfilename, size, blobId: sha1, ...lfs };
    });
    response.setHeader('content-type', 'application/json');
    end(response, 200, JSON.stringify({ id, sha: this.commitOf(id), siblings }));
  }

  private send(file: string, request: IncomingMessage, response: ServerResponse): void {
    const source = path.join(this.folder, file);
    const { size } = statSync(source);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    if (from > 0) response.writeHead(206, { 'content-range': `bytes ${from}-${size - 1}/${size}` });
    const fault = this.take(file, ['break', 'hold']);
    const until = fault ? Math.floor(size * (fault.at ?? 0.6)) : size;
    if (from === 0) response.writeHead(200, { 'content-length': size });
    if (until <= from) return void response.destroy();
    const stream = createReadStream(source, { start: from, end: until - 1 });
    stream.pipe(response, { end: fault === undefined });
    if (fault) stream.on('end', () => this.breakOff(fault, response, readFileSync(source).subarray(until)));
  }

  private breakOff(fault: Fault, response: ServerResponse, rest: Buffer): void {
    if (fault.kind === 'break') return void response.socket?.end();
    // A byte now and then, so that the connection does not look dead.
    let sent = 0;
    const drip = setInterval(() => response.write(rest.subarray(sent, (sent += 1))), 5_000);
    response.once('close', () => clearInterval(drip));
    this.held.push(response);
    this.waiting.get(fault.file)?.();
    return undefined;
  }

  private fail(file: string, kind: Fault['kind'], response: ServerResponse): boolean {
    const fault = this.take(file, [kind]);
    if (!fault) return false;
    for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
    end(response, fault.status ?? 500, 'a fault that a test asked for');
    return true;
  }

  private take(file: string, kinds: readonly Fault['kind'][]): Fault | undefined {
    const index = this.faults.findIndex((fault) => file.endsWith(fault.file) && kinds.includes(fault.kind));
    const fault = this.faults[index];
    if (!fault) return undefined;
    if (fault.times > 1) this.faults[index] = { ...fault, times: fault.times - 1 };
    else this.faults.splice(index, 1);
    return fault;
  }

  private note(origin: SeenRequest['origin'], { url, headers }: IncomingMessage): void {
    const { pathname } = new URL(url ?? '/', 'http://hub');
    this.requests.push({
      origin,
      path: pathname,
      range: headers.range,
      authorization: headers.authorization,
    });
  }

  private knows(id: string, revision: string): boolean {
    return this.filesOf(id).length > 0 && ['main', this.commitOf(id)].includes(revision);
  }

  private filesOf(id: string): string[] {
    const folder = path.join(this.folder, id);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
      .toSorted();
  }

  private stated(id: string, file: string): { sha1: string; sha256: string } {
    const wrong = [...this.wrongHashes].find(([end]) => file.endsWith(end))?.[1];
    return { ...this.hashesOf(`${id}/${file}`), ...(wrong && { sha256: wrong, sha1: wrong.slice(0, 40) }) };
  }

  private hashesOf(file: string): { sha1: string; sha256: string } {
    const { mtimeMs, size } = statSync(path.join(this.folder, file));
    const key = [file, mtimeMs, size].join(' ');
    const known = this.known.get(key);
    if (known) return known;
    const content = readFileSync(path.join(this.folder, file));
    const hashes = {
      sha1: createHash('sha1').update(`blob ${size}\0`).update(content).digest('hex'),
      sha256: createHash('sha256').update(content).digest('hex'),
    };
    this.known.set(key, hashes);
    return hashes;
  }
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status).end(text);
}
