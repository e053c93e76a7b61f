import { describe, expect, it } from 'vitest';
import { withoutForm } from './answer-form.js';

describe('withoutForm', () => {
  it.each([
    ['In one word: which colour is it?', 'which colour is it?', 'word'],
    ['Answer yes or no: may I smoke here?', 'may I smoke here?', 'yes-no'],
    ['How many orders are open? Answer with the number only.', 'How many orders are open?', 'number'],
    ['How many orders are open? Just the number please', 'How many orders are open?', 'number'],
    ['Only the date please: when is the fair?', 'when is the fair?', 'date'],
    ['In one sentence: how does it work?', 'how does it work?', 'sentence'],
    ['Explain the refund policy in one sentence.', 'Explain the refund policy', 'sentence'],
    ['As a numbered list: how do I wax a jacket?', 'how do I wax a jacket?', 'numbered-list'],
    ['Show me the opening hours as a table', 'Show me the opening hours', 'table'],
    ['What does it cost? Reply with one word.', 'What does it cost?', 'word'],
    ['Wie viele sind es? Antworte nur mit der Zahl.', 'Wie viele sind es?', 'number'],
    ['In einem Satz: was ist das?', 'was ist das?', 'sentence'],
    ['List the fees as bullet points.', 'List the fees', 'list'],
  ])('%s', (given, question, form) => expect(withoutForm(given)).toEqual({ question, form }));

  it.each([
    'How many orders are open?',
    'What is the phone number?',
    'When is the date of the fair?',
    'How do I reserve a table?',
    'Is there a list of branches?',
    'Which word means "no" in Danish?',
    'Who is on the waiting list?',
    'What is the fax number of the clinic, and its address?',
  ])('%s stays', (question) => expect(withoutForm(question)).toEqual({ question }));
});
