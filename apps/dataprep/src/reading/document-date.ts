/** Names of fields with the date of a document, in lower case, the best one first: front matter, and `meta` of HTML. */
const dateNames = [
  'date',
  'dc.date',
  'dcterms.date',
  'published',
  'publishdate',
  'pubdate',
  'datepublished',
  'article:published_time',
  'dcterms.created',
  'updated',
  'lastmod',
  'last_modified',
  'last-modified',
  'last_updated',
  'datemodified',
  'article:modified_time',
  'dcterms.modified',
];
const maxCharacters = 40;
const dateOfIso = /^\d{4}-\d{2}(?:-\d{2})?(?=$|[T\s])/;

/** The date of a document from the fields that it says about itself: a day in ISO form, or the text of a field with a year. */
export function documentDate(
  fields: readonly (readonly [name: string, value: string])[],
): string | undefined {
  const known = new Map(fields.map(([name, value]) => [name.toLowerCase(), value.trim()]));
  const values = dateNames.map((name) => known.get(name) ?? '');
  const value = values.find((each) => /\d{4}/.test(each) && each.length <= maxCharacters);
  return value === undefined ? undefined : (dateOfIso.exec(value)?.[0] ?? value);
}
