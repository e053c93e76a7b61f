import { describe, expect, it } from 'vitest';
import { fixedTexts, refusals } from './fixed-texts.js';
import { detectLanguage, languageOf, languages, type Language } from '#platform/foundation';

const questions: Readonly<Record<Language, readonly string[]>> = {
  en: [
    'When does the office open?',
    'Who wrote the agreement?',
    'How many days of leave do I have?',
    'What changed between version 1 and 2?',
    'Refund policy?',
    'Show me the recipe for pancakes',
    'Is remote work allowed on Fridays?',
    'Where is the emergency exit',
    'What are the opening hours on public holidays?',
    'Compare the two contracts',
    'How do I reset the router?',
    'Maximum baggage weight',
  ],
  de: [
    'Wann öffnet das Büro?',
    'Wer hat den Vertrag unterschrieben?',
    'Wie viele Urlaubstage habe ich?',
    'Was kostet die Pumpe?',
    'Welche Fristen gelten bei Kündigung?',
    'Gibt es Parkplätze am Standort Linz?',
    'Zeig mir das Rezept für Pfannkuchen',
    'Ist Homeoffice am Freitag erlaubt?',
    'Öffnungszeiten an Feiertagen',
    'Wie setze ich den Router zurück?',
    'Maximales Gepäckgewicht',
    'Nenne drei Vorteile',
  ],
  fr: [
    'Quand ouvre le bureau ?',
    'Qui a signé le contrat ?',
    'Combien coûte la pompe ?',
    'Quels sont les délais de résiliation ?',
    'Où se trouve la sortie de secours ?',
    'Le télétravail est-il autorisé le vendredi ?',
    'Résume le procès-verbal',
    'Et à Lyon ?',
    'Horaires des jours fériés',
    'Comment réinitialiser le routeur ?',
    'Poids maximal des bagages',
    'Cite trois avantages',
  ],
  es: [
    '¿Cuándo abre la oficina?',
    '¿Quién firmó el contrato?',
    '¿Cuánto cuesta la bomba?',
    'Cuáles son los plazos de cancelación',
    '¿Dónde está la salida de emergencia?',
    'Resume el acta de la reunión',
    '¿Y en Madrid?',
    'Precio del artículo P-120',
    'Horario de los días festivos',
    '¿Cómo reinicio el router?',
    'Peso máximo del equipaje',
    'Menciona tres ventajas',
  ],
  it: [
    "Quando apre l'ufficio?",
    'Chi ha firmato il contratto?',
    'Quanto costa la pompa?',
    'Quali sono i termini di disdetta?',
    "Dove si trova l'uscita di emergenza?",
    'Riassumi il verbale della riunione',
    "Prezzo dell'articolo P-120",
    'Dammi la ricetta delle frittelle',
    'Orari nei giorni festivi',
    'Come si resetta il router?',
    'Peso massimo del bagaglio',
    'Cita tre vantaggi',
  ],
  nl: [
    'Wanneer gaat het kantoor open?',
    'Wie heeft het contract ondertekend?',
    'Hoeveel kost de pomp?',
    'Wat zijn de opzegtermijnen?',
    'Waar is de nooduitgang?',
    'Vat de notulen samen',
    'En in Utrecht?',
    'Prijs van artikel P-120',
    'Openingstijden op feestdagen',
    'Hoe reset ik de router?',
    'Maximaal bagagegewicht',
    'Noem drie voordelen',
  ],
  pt: [
    'Quando abre o escritório?',
    'Quem assinou o contrato?',
    'Quanto custa a bomba?',
    'Quais são os prazos de rescisão?',
    'Onde fica a saída de emergência?',
    'Resuma a ata da reunião',
    'E em Lisboa?',
    'Preço do artigo P-120',
    'Período de garantia da lava-louças',
    'Quem é o encarregado de proteção de dados?',
    'Horários em feriados',
    'Peso máximo da bagagem',
  ],
  pl: [
    'Kiedy otwiera się biuro?',
    'Kto podpisał umowę?',
    'Ile kosztuje pompa?',
    'Jakie są terminy wypowiedzenia?',
    'Gdzie jest wyjście awaryjne?',
    'Streść protokół',
    'A w Krakowie?',
    'Cena artykułu P-120',
    'Godziny otwarcia w święta',
    'Jak zresetować router?',
    'Maksymalna waga bagażu',
    'Wymień trzy zalety',
  ],
};

it.each(['webhook retry', 'Cook book', 'status 409'])('%s has no language', (text) => {
  expect(detectLanguage(text)).toBeUndefined();
});

describe('detectLanguage', () => {
  it.each(Object.entries(questions))('knows short questions in %s', (language, asked) => {
    const wrong = asked.filter((question) => (detectLanguage(question) ?? 'en') !== language);
    expect(wrong).toEqual([]);
  });

  it.each(['P-120?', 'GDPR', 'Ruth Meyer', 'Kingfisher P-400', '', '東京の事務所は何時に開きますか?'])(
    'does not guess the language of %s',
    (text) => expect(detectLanguage(text)).toBeUndefined(),
  );
});

it('languageOf takes the last message of the user that tells it', () => {
  const turns = [
    { role: 'user', content: 'Was kostet die Pumpe?' },
    { role: 'assistant', content: 'The pump costs 12 EUR.' },
    { role: 'user', content: 'P-120?' },
  ];
  expect(languageOf(turns)).toBe('de');
  expect(languageOf(turns.slice(1))).toBeUndefined();
});

it('fixedTexts has each text in each language', () => {
  expect(new Set(refusals).size).toBe(languages.length);
  for (const language of languages) {
    const { noAnswer, missing, answerIn } = fixedTexts(language);
    expect(detectLanguage(noAnswer)).toBe(language);
    expect(missing(['A', 'B'])).toContain('“A”');
    expect(detectLanguage(answerIn)).toBe(language);
  }
  expect(fixedTexts(undefined).noAnswer).toBe('I could not find the answer in the provided documents.');
  expect(fixedTexts('en').missing(['A1'])).toBe('“A1” is not mentioned in the documents that were found.');
  expect(fixedTexts('en').missing(['A1', 'B', 'C'])).toBe(
    '“A1”, “B” and “C” are not mentioned in the documents that were found.',
  );
});
