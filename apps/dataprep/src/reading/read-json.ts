import {
  collapseWhitespace,
  tidyLines,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingWarning,
} from './parsed-document.js';
import { parseJson, parseTolerantly, type JsonRecord, type JsonValue } from './text-formats/parse-json.js';

/** A value with more words is prose: it becomes a paragraph, which chunking may split. */
const proseWords = 30;
const maxDepth = 200;

/**
 * Reads JSON as lines `path: value`. Each record of an array becomes one block. A record or object with prose becomes a
 * section with its title or path as the heading.
 */
export function readJson(source: string): ParsedDocument {
  const value = parseTolerantly(source.replace(/^\uFEFF/, ''));
  const title =
    isRecord(value) && typeof value.title === 'string' ? collapseWhitespace(value.title) : undefined;
  return { ...(title && { title }), blocks: blocksOf(value, [], 0) };
}

/** Limit for the broken lines that are named one by one. */
const maxNamed = 20;

/**
 * Reads JSON Lines as an array: one value per line. A line that is not JSON stays as it is written, with a warning. Errors:
 * SyntaxError that names the line if no line is JSON.
 */
export function readJsonLines(source: string): ParsedDocument {
  const values: JsonValue[] = [];
  const broken: { text: string; number: number; reason: string }[] = [];
  for (const [index, line] of source
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '') continue;
    try {
      values.push(parseJson(line));
    } catch (error) {
      broken.push({ text: line, number: index + 1, reason: (error as Error).message });
    }
  }
  const [first] = broken;
  if (first && values.length === 0) throw new SyntaxError(`line ${first.number}: ${first.reason}`);
  const kept = broken.map(({ text }): DocumentBlock => ({ kind: 'code', text: tidyLines(text) }));
  const blocks = [...blocksOf(values, [], 0), ...kept];
  return broken.length > 0 ? { blocks, warnings: brokenLines(broken) } : { blocks };
}

function brokenLines(broken: readonly { number: number; reason: string }[]): ReadingWarning[] {
  const named = broken.slice(0, maxNamed).map(({ number }) => number);
  const others = broken.length > named.length ? ` and ${broken.length - named.length} others` : '';
  const lines = `${broken.length > 1 ? 'Lines' : 'Line'} ${named.join(', ')}${others}`;
  const message = `${lines} ${broken.length > 1 ? 'are' : 'is'} not valid JSON and stored as written: ${broken[0]!.reason}`;
  return [{ code: 'part_unreadable', message }];
}

function blocksOf(value: JsonValue, path: string[], depth: number): DocumentBlock[] {
  if (depth > maxDepth) throw new RangeError('too deep');
  if (Array.isArray(value)) return isFlat(value) ? leaf(path, value) : arrayBlocks(value, path, depth);
  if (isRecord(value)) return objectBlocks(value, path, depth);
  return leaf(path, value);
}

/**
 * Plain values first, then nested values, each under its key as a heading. A plain value never follows such a heading.
 */
function objectBlocks(record: JsonRecord, path: string[], depth: number): DocumentBlock[] {
  const entries = Object.entries(record);
  const plain = entries.filter(([, value]) => isFlat(value));
  const nested = entries.filter(([, value]) => !isFlat(value));
  return [
    ...plain.flatMap(([key, value]) => leaf([...path, key], value)),
    ...nested.flatMap(([key, value]) => [heading(key, depth), ...blocksOf(value, [...path, key], depth + 1)]),
  ];
}

function arrayBlocks(values: JsonValue[], path: string[], depth: number): DocumentBlock[] {
  return values.flatMap((value, index) => {
    if (!isRecord(value)) return blocksOf(value, [...path, String(index + 1)], depth + 1);
    const pairs = flatten(value, '', depth);
    const prose = pairs.filter(([, text]) => isProse(text));
    const row = pairs.filter(([, text]) => text && !isProse(text)).map(([key, text]) => `${key}: ${text}`);
    const blocks: DocumentBlock[] = row.length > 0 ? [{ kind: 'table-row', text: row.join('; ') }] : [];
    if (prose.length === 0) return blocks;
    const paragraphs = prose.map(([, text]): DocumentBlock => ({ kind: 'paragraph', text }));
    return [heading(labelOf(value, path, index), depth), ...blocks, ...paragraphs];
  });
}

function flatten(record: JsonRecord, prefix: string, depth: number): [path: string, text: string][] {
  if (depth > maxDepth) throw new RangeError('too deep');
  return Object.entries(record).flatMap(([key, value]) => {
    const path = prefix ? `${prefix}.${key}` : key;
    if (isFlat(value)) return [[path, flatText(value)] as [string, string]];
    if (isRecord(value)) return flatten(value, path, depth + 1);
    return flatten(Object.fromEntries((value as JsonValue[]).entries()), path, depth + 1);
  });
}

function leaf(path: string[], value: JsonValue): DocumentBlock[] {
  const text = flatText(value);
  if (!text) return [];
  const kind = isProse(text) ? 'paragraph' : 'list-item';
  return [{ kind, text: path.length > 0 ? `${path.join('.')}: ${text}` : text }];
}

function labelOf(record: JsonRecord, path: string[], index: number): string {
  const named = ['title', 'name', 'heading', 'question', 'id'].map((key) => record[key]).find(isFlatScalar);
  return named === undefined ? [...path, String(index + 1)].join(' ') : flatText(named);
}

function heading(text: string, depth: number): DocumentBlock {
  return { kind: 'heading', level: Math.min(6, depth + 1), text: collapseWhitespace(text) };
}

function flatText(value: JsonValue): string {
  if (value === null) return '';
  if (Array.isArray(value)) return collapseWhitespace(value.map(flatText).join(', '));
  return typeof value === 'object' ? '' : collapseWhitespace(String(value));
}

function isFlatScalar(value: JsonValue | undefined): value is string | number {
  return (typeof value === 'string' && value.trim() !== '' && !isProse(value)) || typeof value === 'number';
}

/** True for a plain value or a list of plain values. */
function isFlat(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.every((item) => item === null || typeof item !== 'object');
  return value === null || typeof value !== 'object';
}

function isRecord(value: JsonValue): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isProse(text: string): boolean {
  return text.split(/\s+/, proseWords + 1).length > proseWords;
}
