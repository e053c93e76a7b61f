/** The languages with fixed texts and their own instruction. */
export const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl'] as const;
export type Language = (typeof languages)[number];

/** Function words and words of questions. A word of several languages counts less. */
const words: Readonly<Record<Language, string>> = {
  en:
    'the a an of to in is are was were be been do does did can could will would should may must have has had what which who ' +
    'whom whose when where why how many much for from with without and or not on at by about into over under between than ' +
    'then there this that these those it its they them their he she his her we our you your i my me us all any some each ' +
    'every no yes if as more most please tell show give list name find explain describe summarize compare write get need ' +
    'price cost date number policy page allowed mention mentions long often also only after before during while because ' +
    'day days hour hours month year time two three four five ten office contract company according ' +
    'hello thanks thank you ' +
    'answer english translate',
  de:
    'der die das den dem des ein eine einen einem einer eines ist sind war waren wird werden wurde wurden kann können ' +
    'könnte soll sollte muss müssen darf dürfen hat haben hatte was wer wen wem wessen wann wo warum wieso weshalb wie ' +
    'welche welcher welches welchen welchem viele viel für von vom mit ohne und oder nicht auf an am bei beim zu zum zur ' +
    'über unter zwischen als dann dort hier dieser diese dieses es er sie ihr ihre wir uns unser du dein ich mein mir mich ' +
    'alle jede jeder kein keine ja nein wenn ob mehr bitte zeig zeige gib nenne liste finde erkläre beschreibe fasse ' +
    'vergleiche schreibe gibt kostet preis datum nummer nach vor während weil auch nur noch im ins aus durch gegen um bis ' +
    'seit wofür womit worauf worum welch steht heißt hoch lang lange oft muß ' +
    'tag tage tagen stunde stunden monat jahr jahre zeit zwei drei vier fünf zehn vertrag büro firma laut drei ' +
    'hallo guten danke dank vielen schön tschüss morgen abend ' +
    'antworte deutsch übersetze',
  fr:
    'le la les un une des du de au aux est sont était sera être peut peuvent doit doivent a ont avait ai as que quoi qui ' +
    'quand où pourquoi comment combien quel quelle quels quelles pour avec sans et ou pas ne sur dans chez par entre ce ' +
    'cet cette ces il elle ils elles on nous vous notre votre je mon ma mes moi me se son sa ses leur leurs tous toutes ' +
    'chaque oui non si plus moins merci montre donne donnez liste trouve explique décris résume compare écris faut y en ' +
    'prix coût date numéro après avant pendant parce aussi seulement jusque vers très plait plaît existe quelqu fait ' +
    'jour jours heure heures mois année ans horaires durée poids deux trois quatre cinq dix bureau contrat entreprise délai délais cite selon puis ' +
    'bonjour merci salut ' +
    'réponds français',
  es:
    'el la los las un una unos unas de del al es son era será ser puede pueden debe deben ha han había he hay qué que quién ' +
    'quien quiénes cuándo cuando dónde donde cómo como cuánto cuánta cuántos cuántas cuanto cuantos cuantas cuál cual ' +
    'cuáles cuales por para con sin y o no en sobre entre este esta estos estas ese esa eso él ella ellos nosotros su sus ' +
    'yo mi mis me se tu tus usted todos todas cada sí si más menos muestra dame da lista encuentra explica describe resume ' +
    'compara escribe necesito precio costo cuesta fecha número después antes durante porque también solo hasta está están ' +
    'tengo tiene tienen puedo ' +
    'día días hora horas mes año años horario periodo dos tres cuatro cinco diez peso oficina contrato empresa plazo menciona según reunión máximo equipo ' +
    'hola gracias buenos ' +
    'responde español',
  it:
    'il lo la i gli le un uno una di del dello della dei degli delle al allo alla ai dal dalla nel nella nei sul sulla è ' +
    'sono era sarà essere può possono deve devono ha hanno aveva ho che cosa chi quando dove perché come quanto quanta ' +
    'quanti quante quale quali per con senza e o non su tra fra questo questa questi queste quello lui lei loro noi voi ' +
    'suo sua io mio mia mi si tutti tutte ogni sì se più meno mostra dammi elenca trova spiega descrivi riassumi confronta ' +
    'scrivi prezzo costa data numero dopo prima durante anche solo fino c ci da in ed cui si posso consentito esiste ' +
    'giorno giorni ora ore mese anno anni orari orario periodo due tre quattro cinque dieci peso ufficio contratto azienda cita massimo secondo apre riunione ' +
    'ciao grazie buongiorno ' +
    'rispondi italiano',
  nl:
    'de het een van in is zijn was waren wordt worden werd kan kunnen moet moeten mag mogen heeft hebben had wat wie wiens ' +
    'wanneer waar waarom hoe hoeveel welk welke veel voor met zonder en of niet op aan bij te tot over onder tussen als ' +
    'dan daar hier dit dat deze die het hij zij ze hun wij we ons onze jij je u uw ik mijn mij me alle elk elke geen ja ' +
    'nee indien meer minder toon geef noem lijst vind leg uit beschrijf vat samen vergelijk schrijf kost prijs datum ' +
    'nummer na voordat tijdens omdat ook alleen naar door er om nog wel staat gaat lang vaak ' +
    'dag dagen uur uren maand jaar jaren tijd twee drie vier vijf tien kantoor contract bedrijf volgens ' +
    'hoi dankjewel bedankt goedemorgen ' +
    'antwoord nederlands',
  pt:
    'o a os as um uma uns umas de do da dos das no na nos nas ao aos à às é são era será ser pode podem deve devem tem têm ' +
    'tinha há que quem quando onde por porque como quanto quanta quantos quantas qual quais para com sem e ou não em ' +
    'sobre entre este esta estes estas esse essa isso ele ela eles nós seu sua seus suas eu meu minha me se você todos ' +
    'todas cada sim mais menos mostre dê liste encontre explique descreva resuma compare escreva preciso preço custa custo ' +
    'data número depois antes durante também só até está estão tenho fica pelo pela posso ' +
    'dia dias hora horas mês ano anos horário horários período dois três quatro cinco dez peso escritório contrato empresa prazo cite segundo abre reunião receita máximo ' +
    'olá obrigado obrigada ' +
    'responda português',
  pl:
    'i w we z ze na do od o u po za przy dla bez nad pod przed przez między jest są był była było będzie być może mogą ' +
    'musi muszą ma mają miał co kto kogo kiedy gdzie dlaczego czemu jak ile jaki jaka jakie jakiego jakich który która ' +
    'które których czy lub albo nie tak ten ta to te ci tym tego tej ja mój moja moje mi mnie my nasz wy wasz on ona ono ' +
    'oni ich jego jej się wszystkie każdy każda jeśli więcej mniej pokaż podaj wymień znajdź wyjaśnij opisz streść porównaj ' +
    'napisz cena kosztuje data numer po ponieważ także tylko aż mam można a oraz też jakim ' +
    'dzień dni godzina godziny miesiąc rok lat czas okres dwa trzy cztery pięć dziesięć biuro umowa umowę firma termin według ' +
    'cześć dziękuję dzień ' +
    'odpowiedz polsku',
};

/** Letters and endings that one or two languages have. */
const marks: readonly (readonly [RegExp, Partial<Record<Language, number>>])[] = [
  [/ß/u, { de: 2 }],
  [/[äöü]/u, { de: 1 }],
  [/[¿¡ñ]/u, { es: 3 }],
  [/[ãõ]|ções?\b|ção\b/u, { pt: 2 }],
  [/ç/u, { pt: 1, fr: 1 }],
  [/[łżśąęćńź]/u, { pl: 2 }],
  [/[œêîôûëï]/u, { fr: 1 }],
  [/[áíó]/u, { es: 0.5, pt: 0.5 }],
  [/[àèìòù](?!\p{L})/u, { it: 1, fr: 0.5 }],
  [/(?<!\p{L})(?:l|d|qu|c|n|j|s|m|t)['’](?=\p{L})/u, { fr: 1, it: 0.5 }],
  [/(?<!\p{L})(?:dell|nell|all|un|c|dall|sull|quest)['’](?=\p{L})/u, { it: 1.5 }],
  [/ [?!]$/u, { fr: 0.5 }],
  [/\p{L}(?:ung|ungen|keit|heit|lich|frist|zeit|schaft)(?!\p{L})/u, { de: 1 }],
  [/\p{L}(?:zione|zioni|mente|aggio|ità)(?!\p{L})/u, { it: 1 }],
  [/\p{L}(?:ción|ciones|dad|miento)(?!\p{L})/u, { es: 1 }],
  [/\p{L}(?:ência|mento|agem|dade)(?!\p{L})/u, { pt: 0.75, it: 0.25 }],
  [/\p{L}(?:heid|lijk|lijke|ij\p{L}*|tie|ties)(?!\p{L})/u, { nl: 1 }],
  [/\p{L}(?:aa|uu)\p{L}/u, { nl: 0.5 }],
  // English has these, too: `webhook`.
  [/\p{L}(?:oo|ee)\p{L}/u, { nl: 0.25 }],
  [/\p{L}(?:ości?|ów|ego|owy|ania|enie|enia|cie)(?!\p{L})/u, { pl: 1 }],
  [/\p{L}(?:eaux?|eux|euse|ez|ment)(?!\p{L})/u, { fr: 0.5 }],
  [/\p{L}(?:ing|ness|ght|wh\p{L})(?!\p{L})/u, { en: 0.5 }],
];

const lists = languages.map((language) => [language, new Set(words[language].split(' '))] as const);

/**
 * The language of a short text by its function words, letters and endings; undefined where they do not tell. A larger
 * library guesses short questions from the frequency of letters, and is not better at them.
 */
export function detectLanguage(text: string): Language | undefined {
  const scores = new Map<Language, number>();
  const add = (language: Language, value: number) =>
    scores.set(language, (scores.get(language) ?? 0) + value);
  const lower = text.slice(0, maxLength).toLowerCase();
  for (const word of lower.match(/\p{L}+/gu) ?? []) {
    const having = lists.filter(([, list]) => list.has(word));
    for (const [language] of having) add(language, 1 / having.length);
  }
  for (const [pattern, values] of marks)
    if (pattern.test(lower.trim())) for (const language of languages) add(language, values[language] ?? 0);
  const [first, second] = [...scores].toSorted(([, left], [, right]) => right - left);
  if (!first || first[1] < minScore || first[1] === second?.[1]) return undefined;
  return first[0];
}

/** Characters that are read. */
const maxLength = 2_000;
const minScore = 0.4;

/** The language of the last of the user's messages that tells it; undefined without one. */
export function languageOf(
  messages: readonly { readonly role: string; readonly content: string }[],
): Language | undefined {
  for (const { role, content } of messages.toReversed()) {
    const language = role === 'user' ? detectLanguage(content) : undefined;
    if (language) return language;
  }
  return undefined;
}
