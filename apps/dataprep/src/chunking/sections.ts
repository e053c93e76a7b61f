import type { DocumentBlock } from '../reading/parsed-document.js';
import { countWords } from './words.js';

/** The blocks between two headings, and the headings above them from the outermost to the innermost. */
export interface Section {
  headings: string[];
  blocks: DocumentBlock[];
}

interface OpenHeading {
  level: number;
  text: string;
  /** Whether some section below it holds text; a heading over nothing becomes text itself. */
  used: boolean;
}

/** A longer "heading" is a paragraph in large print. */
const maxHeadingWords = 30;

/**
 * Groups blocks by the headings above them. A heading with nothing below it becomes a section's text; one that `ends` ends
 * those of its level.
 */
export function sectionsOf(blocks: DocumentBlock[]): Section[] {
  const sections: Section[] = [];
  const open: OpenHeading[] = [];
  const closeFrom = (level: number) => {
    while (open.length > 0 && (open.at(-1)?.level ?? 0) >= level) {
      const closed = open.pop();
      if (closed && !closed.used) addBlock(sections, open, { kind: 'paragraph', text: closed.text }, true);
    }
  };
  for (const block of blocks) {
    if (block.kind === 'heading' && countWords(block.text) <= maxHeadingWords) {
      const level = block.level ?? 1;
      closeFrom(level);
      if (!block.ends) open.push({ level, text: block.text, used: false });
      sections.push({ headings: pathOf(open), blocks: [] });
    } else addBlock(sections, open, { ...block, kind: block.kind === 'heading' ? 'paragraph' : block.kind });
  }
  closeFrom(0);
  return sections.filter((section) => section.blocks.length > 0);
}

/** Adds to the section at hand, or begins one; the headings above it have text below them from now on. */
function addBlock(
  sections: Section[],
  open: OpenHeading[],
  block: DocumentBlock,
  startsSection = false,
): void {
  const section = sections.at(-1);
  if (section && !startsSection) section.blocks.push(block);
  else sections.push({ headings: pathOf(open), blocks: [block] });
  for (const heading of open) heading.used = true;
}

function pathOf(open: OpenHeading[]): string[] {
  return open.map((heading) => heading.text);
}
