import { columnsOf, findConcepts, findHeaderWords, findTypos, findWholeHeaders } from './find-columns.js';
import { findComparedColumns } from './compared-columns.js';
import { findDates, findNumbers } from './find-limits.js';
import { findAsked, findCues, findExtremes, findNegations, findPresence } from './find-phrases.js';
import { cellWordsOf, findNamedTimes, findParts, findVariants, findWholeValues } from './find-values.js';
import type { Ready } from './language/index.js';
import { Marks, type Reading } from './mentions.js';
import type { Table } from './cells/table.js';
import { wordsOf, type Word } from './cells/words.js';

/**
 * Finds the parts of a question that are about a table. Each word counts once: by dates and cells first, then by phrases,
 * headers and their synonyms, numbers, and parts of cells.
 */
export function readQuestion(question: string, table: Table, language: Ready): Reading {
  const words = wordsOf(question);
  const marks = new Marks(words.length);
  const cells = cellWordsOf(table);
  const plain = { question, words, marks, language, adjectives: [] };
  const values = findNamedTimes(words, cells, marks, language);
  const dates = findDates(plain);
  const longHeaders = findWholeHeaders(words, table, marks, { language, minWords: 2 });
  values.push(...findWholeValues(words, cells, marks, language));
  values.push(...findParts(words, cells, marks, { language, minWords: 2 }));
  const presences = findPresence(words, table, marks, language);
  const asked = findAsked(words, marks, language);
  const cuedHeaders = findWholeHeaders(words, table, marks, { language, minWords: 1 });
  const cues = findCues(words, marks, language);
  const subjects = takeSubjects(words, table, { marks, language });
  const concepts = findConcepts(words, table, marks, language);
  const adjectives = concepts.filter(({ adjective }) => adjective);
  const numbers = findNumbers({ question, words, marks, language, adjectives });
  const extremes = findExtremes({ words, adjectives, marks, language, table });
  const negations = findNegations(words, marks, language);
  const parts = findHeaderWords(words, table, marks, language);
  values.push(...findParts(words, cells, marks, { language, minWords: 1 }));
  const compared = findComparedColumns(
    { words, columns: [...longHeaders, ...cuedHeaders, ...concepts, ...parts], presences, marks },
    table,
    language,
  );
  takeMeasures(words, marks, language);
  takeFillers(words, marks, language);
  const typos = findTypos(words, table, marks);
  values.push(...findVariants(words, cells, marks, language));
  const used = new Set([
    ...numbers.map(({ adjective }) => adjective),
    ...adjectives.filter((one) =>
      extremes.some((extreme) => one.start >= extreme.start && one.end <= extreme.end),
    ),
  ]);
  const columns = [...longHeaders, ...cuedHeaders, ...concepts, ...parts, ...typos].filter(
    (mention) => !used.has(mention),
  );
  return {
    words,
    asked,
    isYesNo: language.yesNo.has(words[0]?.text ?? ''),
    cues,
    values: values.toSorted((left, right) => left.start - right.start),
    columns: columns.toSorted((left, right) => left.start - right.start),
    limits: [...dates, ...numbers].toSorted((left, right) => left.start - right.start),
    presences,
    compared,
    extremes,
    negations,
    subjects,
    unknown: words.flatMap((_word, at) => (marks.isFree(at) ? [at] : [])),
    marks,
  };
}

/** Words that mean a row: those of the title, and general ones such as `items` and `people`. */
function takeSubjects(
  words: readonly Word[],
  table: Table,
  { marks, language }: { marks: Marks; language: Ready },
): number[] {
  const isPersonal = language.concepts.some(
    ({ name, headers }) =>
      name === 'person' && table.columns.some(({ stems }) => stems.some((stem) => headers.includes(stem))),
  );
  return words.flatMap((word, start) => {
    const isHeader = table.columns.some(({ stems }) => stems.includes(word.stem));
    const isSubject = table.about.has(isHeader ? word.text : word.stem) && !language.fillers.has(word.text);
    // `energy` of a file with this name asks for a column.
    const isMeasured = language.concepts.some(
      (concept) =>
        concept.asked.has(word.stem) &&
        columnsOf(concept, table).some(({ kind }) => kind === 'number' || kind === 'duration'),
    );
    const isRow =
      !isHeader && (language.rowNouns.has(word.stem) || (isPersonal && language.personNouns.has(word.stem)));
    return ((isSubject && !isMeasured) || isRow) && marks.take({ start, end: start + 1 }, 'subject')
      ? [start]
      : [];
  });
}

/** `mirror size`: the noun after a column adds nothing; nor does a letter before it, as in `E. coli`. */
function takeMeasures(words: readonly Word[], marks: Marks, { measures }: Ready): void {
  for (const [start, { text }] of words.entries()) {
    const isMeasure = measures.has(text) && marks.at(start - 1) === 'column';
    const isInitial = /^\p{L}$/u.test(text) && marks.at(start + 1) === 'column';
    if (isMeasure || isInitial) marks.take({ start, end: start + 1 }, 'filler');
  }
}

function takeFillers(words: readonly Word[], marks: Marks, { fillers, joins }: Ready): void {
  for (const [start, { text }] of words.entries())
    if (fillers.has(text) || joins.has(text)) marks.take({ start, end: start + 1 }, 'filler');
}
