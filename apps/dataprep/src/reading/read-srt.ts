import { collapseWhitespace, type DocumentBlock, type ParsedDocument } from './parsed-document.js';

/** `00:01:02,500 --> 00:01:04,000`, also with a point, with fewer digits, without hours, or with a position after the times. */
const timeLine = /^\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:\s?[,.:]\s?\d{1,3})?\s*-->/;
const cueNumber = /^\s*\d+\s*$/;
/** Tags for styles, times and languages, and positions such as `{\an8}`. */
const markup = /<\/?(?:[bciuv]|s|font|ruby|rt|lang|\d[\d:.]*)(?:[.\s][^<>]*)?>|\{\\[^{}]*\}/gi;
/** The speaker of a cue in WebVTT. */
const speaker = /<v(?:\.[^<>\s]*)?\s+([^<>]+)>/gi;
/** Lines of WebVTT that begin a remark or a style, up to the next blank line. */
const remark = /^(?:NOTE|STYLE|REGION)(?:\s|$)/;
const hasText = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;

interface Cue {
  /** Seconds from the beginning of the film. */
  start: number;
  lines: string[];
}

/**
 * Reads subtitles in SubRip or WebVTT. The texts of the cues that start in one minute become one paragraph, with the start of the
 * minute as the heading (`01:02:00`). A minute without text is left out. Throws if no line has the times of a cue.
 */
export function readSrt(source: string): ParsedDocument {
  const cues = cuesOf(source);
  if (cues.length === 0) throw new Error('it has no line with times such as 00:01:02,500 --> 00:01:04,000');
  const minutes = new Map<number, string[]>();
  // Files often list the subtitles for signs after the dialog.
  for (const { start, lines } of cues.sort((one, other) => one.start - other.start)) {
    const text = collapseWhitespace(lines.join(' ').replaceAll(speaker, '$1: ').replaceAll(markup, ''));
    if (!hasText.test(text)) continue;
    const minute = Math.floor(start / 60);
    const texts = minutes.get(minute) ?? [];
    minutes.set(minute, texts);
    texts.push(text);
  }
  return { blocks: [...minutes].flatMap(([minute, texts]) => blocksOf(minute, texts)) };
}

function cuesOf(source: string): Cue[] {
  const cues: Cue[] = [];
  const lines = source.split(/\r\n?|\n/);
  let isRemark = false;
  for (const [index, line] of lines.entries()) {
    const [, hours = 0, minutes, seconds] = timeLine.exec(line) ?? [];
    const isAfterBlank = (lines[index - 1] ?? '').trim() === '';
    isRemark = (isRemark && line.trim() !== '') || (isAfterBlank && remark.test(line));
    if (isRemark) continue;
    if (seconds !== undefined)
      cues.push({ start: (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds), lines: [] });
    else if (!isCueNumber(line, lines[index + 1])) cues.at(-1)?.lines.push(line);
  }
  return cues;
}

/** A number is the number of a cue only directly above the times of the cue. Elsewhere it is part of the text. */
function isCueNumber(line: string, next: string | undefined): boolean {
  return next !== undefined && cueNumber.test(line) && timeLine.test(next);
}

function blocksOf(minute: number, texts: readonly string[]): DocumentBlock[] {
  const parts = [Math.floor(minute / 60), minute % 60, 0].map((part) => String(part).padStart(2, '0'));
  return [
    { kind: 'heading', level: 1, text: parts.join(':') },
    { kind: 'paragraph', text: texts.join(' ') },
  ];
}
