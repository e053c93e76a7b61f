import { invalidField, type StoredChunk } from '#platform/contracts';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { z } from 'zod';
import type { DocumentReader } from './document-reader.js';
import { defineTool, readsOnly, type McpTool } from './mcp-tool.js';

/** Characters of the text around a match. */
const around = 120;

const input = z.strictObject({
  document: z.string().min(1).describe('Id or file name of the document'),
  pattern: z.string().min(1).max(1_000).describe('Text to find'),
  regex: z.boolean().default(false).describe('The pattern is a regular expression in the syntax of RE2'),
  ignore_case: z.boolean().default(true),
  max_matches: z.int().min(1).max(200).default(20),
});

const matchSchema = z.object({
  passage: z.int().describe('Position in the document, for open'),
  heading: z.string().optional(),
  page: z.int().optional(),
  time: z.string().optional(),
  text: z.string().describe('The match with the text around it'),
});
type Match = z.output<typeof matchSchema>;

/** The tool `find`. */
export function findTool(documents: DocumentReader): McpTool {
  return defineTool({
    name: 'find',
    title: 'Find a pattern in a document',
    description:
      'Finds all places of one document where a text or a regular expression occurs, in order. Use it for names, numbers ' +
      'and exact words; use search for questions.',
    input,
    output: z.object({
      document: z.string(),
      filename: z.string(),
      matches: z.array(matchSchema),
      has_more: z.boolean(),
    }),
    annotations: readsOnly,
    scope: 'read',
    run: async ({ document: name, max_matches: max, ...wanted }, { call }) => {
      const pattern = compile(wanted);
      const document = await documents.find(name);
      const matches: Match[] = [];
      for await (const chunks of documents.pages(document.id)) {
        call.signal.throwIfAborted();
        for (const chunk of chunks) matches.push(...matchesIn(chunk, pattern, max + 1 - matches.length));
        if (matches.length > max) break;
      }
      const shown = matches.slice(0, max);
      const { id, filename } = document;
      const structured = { document: id, filename, matches: shown, has_more: matches.length > max };
      return { text: asText(filename, shown, matches.length > max), structured };
    },
  });
}

/** Errors: invalid_request for a regular expression that is not valid. */
function compile({
  pattern,
  regex,
  ignore_case,
}: {
  pattern: string;
  regex: boolean;
  ignore_case: boolean;
}): RE2JS {
  const flags = ignore_case ? RE2JS.CASE_INSENSITIVE : 0;
  try {
    return RE2JS.compile(regex ? pattern : RE2JS.quote(pattern), flags);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw invalidField('pattern', error.message);
    throw error;
  }
}

function matchesIn({ index, text, metadata }: StoredChunk, pattern: RE2JS, max: number): Match[] {
  const found: Match[] = [];
  const { heading, page, time } = metadata;
  const matcher = pattern.matcher(text);
  while (found.length < max && matcher.find()) {
    const [start, end] = [matcher.start(), matcher.end()];
    // An empty match occurs at every position, so it is not a result.
    if (start === end) continue;
    found.push({
      passage: index,
      ...(typeof heading === 'string' && { heading }),
      ...(typeof page === 'number' && { page }),
      ...(typeof time === 'string' && { time }),
      text: excerpt(text, start, end),
    });
  }
  return found;
}

function excerpt(text: string, start: number, end: number): string {
  const from = Math.max(0, start - around);
  const to = Math.min(text.length, end + around);
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
}

function asText(filename: string, matches: readonly Match[], hasMore: boolean): string {
  if (matches.length === 0) return `${filename} does not contain it.`;
  const lines = matches.map(({ passage, heading, page, time, text }) => {
    const pageText = page === undefined ? undefined : `page ${page}`;
    const place = [`passage ${passage}`, heading, pageText, time].filter(Boolean);
    return `${place.join(', ')}: ${text.replaceAll(/\s+/g, ' ')}`;
  });
  return [...lines, ...(hasMore ? ['There are further matches.'] : [])].join('\n');
}
