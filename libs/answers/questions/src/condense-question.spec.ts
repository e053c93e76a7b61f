import { describe, expect, it } from 'vitest';
import { condenseQuestion, questionWithNames } from './condense-question.js';

const turns = (...texts: string[]) =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
const opening = [
  'Who built the Zorvan observatory?',
  'The Zorvan observatory was built by Ann Lee in 1930. [1]',
];

describe('condenseQuestion', () => {
  const dialogue = (...texts: string[]) =>
    condenseQuestion(
      texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
    );

  it('knows German follow-ups', () => {
    expect(dialogue('Wie viele Tage Urlaub habe ich?', '29 Tage.', 'Wo beantrage ich ihn?')).toContain(
      'Urlaub',
    );
    expect(dialogue('Wie groß ist der kleine Transporter?', '5,8.', 'Und der große?')).toBe(
      'Wie groß ist der große Transporter?',
    );
    expect(dialogue('Wie viele Tage Urlaub habe ich?', '29 Tage.', 'Wer leitet die Werkstatt?')).toBe(
      'Wer leitet die Werkstatt?',
    );
  });

  it('puts another part into the question before', () => {
    expect(dialogue('What does the electric stove cost?', '3,450 euros.', 'And the wood one?')).toBe(
      'What does the wood stove cost?',
    );
  });

  it.each([
    ['and who paid for it?', ['Zorvan', 'observatory']],
    ['When?', ['Zorvan', 'observatory']],
    ['How tall is it?', ['Zorvan', 'observatory']],
    ['Where does she live?', ['Ann', 'Lee']],
    ['What about its telescope?', ['Zorvan', 'observatory']],
    ['Why did they do that?', ['Zorvan']],
    ['And the telescope?', ['Zorvan']],
  ])('adds the subject of the conversation to: %s', (question, words) => {
    const condensed = condenseQuestion(turns(...opening, question));
    expect(condensed.startsWith(question)).toBe(true);
    expect(condensed.split(' ')).toEqual(expect.arrayContaining(words));
  });

  it.each([
    ['What is Zorvex?', 'Can I drive while taking it?', 'Can I drive while taking it? Zorvex'],
    ['How do I use Zorvex?', 'How long does the treatment last?', 'How long does the treatment last? Zorvex'],
  ])('after "%s" adds the subject to: %s', (previous, followUp, condensed) => {
    expect(condenseQuestion(turns(previous, 'A cream. [1]', followUp))).toBe(condensed);
  });

  it('goes back over several follow-ups', () => {
    const condensed = condenseQuestion(
      turns(...opening, 'and who paid for it?', 'I could not find the answer.', 'And when was it opened?'),
    );
    expect(condensed).toContain('Zorvan');
  });

  it.each([
    ['a label', 'Closest passages:\n\nFrom “Time off”: Please take your days. [1]'],
    [
      'a refusal',
      'I could not find the answer in the provided documents. “Bram” is not mentioned in them.\n\nx',
    ],
    ['a table', 'So:\n\n| Class | Where |\n| --- | --- |\n| Public | Anywhere |\n\n[1]'],
    ['numbers and an address', 'It costs 90 euros, see https://example.org/Page for it. [1]'],
  ])('does not search for the words of an answer with %s', (_what, answer) => {
    const condensed = condenseQuestion(turns('May I keep it?', answer, 'What does it cost?'));
    expect(condensed).toMatch(/^What does it cost\?(?: keep)?$/);
  });

  it.each([
    'Which port does the gateway use?',
    'When does the office in Lisbon open its doors to visitors?',
    'Who discovered penicillin?',
    'How do I start MegaNest?',
  ])('%s stands for itself', (question) => {
    expect(condenseQuestion(turns(...opening, question))).toBe(question);
  });

  it.each([
    ['What does fault code E4 mean?', 'And E2?', 'What does fault code E2 mean?'],
    ['How many people work in Bergen?', 'What about Porto?', 'How many people work in Porto?'],
    [
      'How many passengers does the MS Terna carry?',
      'And the MS Alke?',
      'How many passengers does the MS Alke carry?',
    ],
    [
      'How many people work for Tarnwell in Bergen in 2025?',
      'and in 2026?',
      'How many people work for Tarnwell in Bergen in 2026?',
    ],
    [
      'How many people work in Bergen for Tarnwell?',
      'And in Porto?',
      'How many people work in Porto for Tarnwell?',
    ],
  ])('puts another name into "%s": %s', (previous, followUp, condensed) => {
    expect(condenseQuestion(turns(previous, 'Some answer about E4. [1]', followUp))).toBe(condensed);
    expect(questionWithNames(turns(previous, 'Some answer about E4. [1]', followUp))).toBe(condensed);
  });

  it('goes on from the name that was put in', () => {
    const asked = turns(
      'What is the bonus of level L3?',
      '6 %. [1]',
      'And L5?',
      '15 %. [1]',
      'And its salary?',
    );
    expect(condenseQuestion(asked)).toContain('L5');
    expect(condenseQuestion(asked)).not.toContain('L3');
  });

  it.each([
    ['How long is parental leave?', 'How much is the sextant?', 'How much is the sextant?'],
    [
      'Who was present at the Halcyon meeting?',
      'How much is the barometer?',
      'How much is the barometer? Halcyon',
    ],
    ['What does the HX-320 weigh?', 'What is the warranty?', 'What is the warranty? HX-320'],
    ['How long is parental leave?', 'Who is Ruth?', 'Who is Ruth?'],
  ])('after "%s" adds names alone to: %s', (previous, question, condensed) => {
    expect(condenseQuestion(turns(previous, 'Ann gets 18 weeks. [1]', question))).toBe(condensed);
  });

  it('does not add the names of earlier answers to a clause of its own', () => {
    const asked = turns(
      'Who was at the Halcyon meeting?',
      'Ann Lee in room Skua. [1]',
      'Who was absent?',
      'Joe. [1]',
    );
    const last = { role: 'user', content: 'How much is the barometer?' };
    expect(condenseQuestion([...asked, last])).toBe('How much is the barometer? Halcyon');
    expect(questionWithNames([...asked, last])).toBe('How much is the barometer? Halcyon');
  });

  it('leaves a first question as it is, and does with turns of the system', () => {
    expect(condenseQuestion(turns('and who paid for it?'))).toBe('and who paid for it?');
    expect(condenseQuestion([{ role: 'system', content: 'Be brief.' }])).toBe('Be brief.');
    expect(condenseQuestion([])).toBe('');
  });
});

describe('questionWithNames', () => {
  it.each([
    ['When did it close?', 'When did it close? Zorvan'],
    ['Where does she live?', 'Where does she live? Zorvan Ann Lee'],
    ['Which port does the gateway use?', 'Which port does the gateway use?'],
  ])('%s is read as %s', (question, read) => {
    expect(questionWithNames(turns(...opening, question))).toBe(read);
  });
});
