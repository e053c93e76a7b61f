/**
 * The letters outside of ASCII of languages, the most frequent first. Other marks of a language's texts follow after a
 * space.
 */
const latin: Readonly<Record<string, string>> = {
  German: 'üäöß',
  French: 'éèàêçôîùûâœëï',
  Spanish: 'óíáéñú',
  Portuguese: 'ãçáéíóõêâàú',
  Italian: 'àèòùìé',
  Swedish: 'äåöé',
  Norwegian: 'åøæé',
  Icelandic: 'áíðéþöóúýæ',
  Estonian: 'äõüöšž',
  Polish: 'łżąęóśćńź',
  Czech: 'íáéěřýžščůúťďňó',
  Slovak: 'áíýčžéšľúťôňďäóŕ',
  Hungarian: 'áéőöüíóúű',
  Croatian: 'čšžćđ',
  Romanian: 'ăâîșțşţ',
  Turkish: 'ıüşöçğâ',
  Lithuanian: 'ėąįšųžūčę',
  Latvian: 'āīēšūļčžķņģ',
};

const whole: Readonly<Record<string, string>> = {
  Russian: 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё',
  Ukrainian: 'оаниіевтрклсдупзьямбгчйєхцжїюшщфґ',
  Bulgarian: 'аоиетнрвсклдпмъзуябгчщжхцшйюьф',
  Greek: 'αοιετσνηρπκμλςυίόάγέδήωχθύώφβξζψϊϋΐ',
  Hebrew: 'יוהלאשמרתבנםעדחקפכגטזסןצךץףױ',
  Arabic: 'اليمنتورهبدعسكفةحقجشأىصطخزضإغذئثءآظؤ',
  Thai: 'านรอกเงีมล่ยทวดสต้ะั์ิบคแปหใจำพขชือุไึูซธ็ณผญโถศภษ๊ฉฟฐฮฝ๋ฎฆฬฌฤฏฒ',
};

/** The encodings of one byte that a text may have, the more usual ones first, with their languages. */
export const singleByteEncodings: readonly [encoding: string, languages: readonly string[]][] = [
  [
    'windows-1252',
    ['German', 'French', 'Spanish', 'Portuguese', 'Italian', 'Swedish', 'Norwegian', 'Icelandic', 'Estonian'],
  ],
  ['windows-1251', ['Russian', 'Ukrainian', 'Bulgarian']],
  ['windows-1250', ['Polish', 'Czech', 'Slovak', 'Hungarian', 'Croatian', 'Romanian', 'German']],
  ['koi8-r', ['Russian']],
  ['koi8-u', ['Ukrainian']],
  ['windows-1253', ['Greek']],
  ['iso-8859-7', ['Greek']],
  ['windows-1254', ['Turkish']],
  ['windows-1255', ['Hebrew']],
  ['windows-1256', ['Arabic']],
  ['windows-1257', ['Lithuanian', 'Latvian', 'Estonian']],
  ['windows-874', ['Thai']],
  ['iso-8859-2', ['Polish', 'Czech', 'Slovak', 'Hungarian', 'Croatian', 'Romanian']],
  ['iso-8859-5', ['Russian', 'Bulgarian']],
  ['ibm866', ['Russian', 'Bulgarian']],
  ['macintosh', ['German', 'French', 'Spanish', 'Portuguese', 'Italian', 'Swedish', 'Norwegian']],
  ['x-mac-cyrillic', ['Russian', 'Ukrainian', 'Bulgarian']],
  ['cp850', ['German', 'French', 'Spanish', 'Portuguese', 'Italian', 'Swedish', 'Norwegian']],
  ['cp852', ['Polish', 'Czech', 'Slovak', 'Hungarian', 'Croatian', 'Romanian']],
];

/** The value of each letter as a sign of a language: from 1.3 for the most frequent to 0.6. */
export const letterValues: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  [...Object.entries(latin), ...Object.entries(whole)].map(([language, letters]) => {
    const all = Array.from(letters);
    return [language, new Map(all.map((letter, at) => [letter, 1.3 - (0.7 * at) / all.length]))];
  }),
);
