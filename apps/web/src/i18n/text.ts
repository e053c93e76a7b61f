import { Stored, useStored } from '../stored';
import { en, type Messages } from './en';

export type Language = 'en' | 'de';
export type Key = keyof Messages;
type Values = Record<string, string | number>;
type Table = Record<Key, string | { one: string; other: string }>;

/** The languages, by their own names. */
export const languages: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

const fromBrowser: Language = navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en';
const chosen = new Stored<Language>('meganest-language', fromBrowser);

let table: Table = en;
let language: Language = 'en';

const numberFormat = once(Intl.NumberFormat);
const dateFormat = once(Intl.DateTimeFormat);
const pluralRules = once(Intl.PluralRules);

/** Keeps the formats of each language: to make one costs far more than to use it. */
function once<Options, Format>(Format: new (language: Language, options: Options) => Format) {
  const made = new Map<string, Format>();
  return (options: Options): Format => {
    const key = `${language} ${JSON.stringify(options)}`;
    const format = made.get(key) ?? new Format(language, options);
    made.set(key, format);
    return format;
  };
}

/** Switches to a language and loads its file if necessary. */
export async function chooseLanguage(wanted: Language): Promise<void> {
  table = wanted === 'de' ? (await import('./de')).de : en;
  language = wanted;
  document.documentElement.lang = wanted;
  chosen.set(wanted);
}

/** Loads the language that the user chose last, or the language of the browser. */
export function startLanguage(): Promise<void> {
  return chooseLanguage(chosen.get() === 'de' ? 'de' : 'en');
}

/** A message with its values inserted for `{name}`. `count` selects the singular or the plural. */
export function text(key: Key, values: Values = {}): string {
  const entry = table[key];
  const template = typeof entry === 'string' ? entry : entry[formOf(Number(values['count'] ?? 0))];
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => shown(values[name]) ?? whole);
}

function formOf(count: number): 'one' | 'other' {
  return pluralRules({}).select(count) === 'one' ? 'one' : 'other';
}

function shown(value: string | number | undefined): string | undefined {
  return typeof value === 'number' ? numberText(value) : value;
}

/** Formats a number in the current language. */
export function numberText(value: number, digits = 0): string {
  return numberFormat({ maximumFractionDigits: digits }).format(value);
}

/** Formats a size in bytes with its unit. */
export function sizeText(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  const power = bytes > 0 ? Math.min(Math.floor(Math.log10(bytes) / 3), 3) : 0;
  const options = { style: 'unit', unit: units[power], maximumFractionDigits: power > 0 ? 1 : 0 } as const;
  return numberFormat(options).format(bytes / 1000 ** power);
}

/** Formats a date with its time. */
export function dateText(date: string | number): string {
  return dateFormat({ dateStyle: 'medium', timeStyle: 'short' }).format(new Date(date));
}

/** Formats a time of day. */
export function clockText(date: number): string {
  return dateFormat({ timeStyle: 'short' }).format(new Date(date));
}

/** Hook for {@link text}. The component renders again when the language changes. */
export function useText(): typeof text {
  useStored(chosen);
  return text;
}

/** The current language. */
export function useLanguage(): Language {
  useStored(chosen);
  return language;
}
