import type { PdfPage } from './open-pdf.js';
import type { Ruling } from './rulings.js';

/** A value that a person wrote on a page: of a form field, or a text that was put on the page. */
export interface PageNote {
  text: string;
  box: Ruling;
  /** A box to tick has its label on the right as well as on the left. */
  kind: 'field' | 'tick' | 'text';
}

/** Flags of annotations that are not shown. */
const hiddenFlags = 2 | 32;

/** What pdf.js says of an annotation. */
interface PdfAnnotation {
  subtype?: string;
  fieldType?: string;
  fieldValue?: string | string[] | null;
  options?: { exportValue: string; displayValue: string }[];
  rect: number[];
  annotationFlags?: number;
  hidden?: boolean;
  password?: boolean;
  checkBox?: boolean;
  radioButton?: boolean;
  buttonValue?: string | null;
  exportValue?: string | null;
  contentsObj?: { str: string };
}

/** Values of the filled form fields of a page, and texts that were put on it. */
export async function readNotes(page: PdfPage): Promise<PageNote[]> {
  const annotations = (await page.getAnnotations()) as PdfAnnotation[];
  return annotations.flatMap((annotation) => {
    const { annotationFlags = 0, hidden, rect } = annotation;
    const value = hidden || annotationFlags & hiddenFlags ? undefined : valueOf(annotation);
    if (!value?.text.trim()) return [];
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = rect;
    return [{ ...value, box: { left: x1, bottom: y1, right: x2, top: y2 } }];
  });
}

function valueOf(annotation: PdfAnnotation): Pick<PageNote, 'text' | 'kind'> | undefined {
  const { subtype, fieldType, fieldValue, password, contentsObj } = annotation;
  if (subtype === 'FreeText' || subtype === 'Text')
    return contentsObj ? { text: contentsObj.str, kind: 'text' } : undefined;
  if (subtype !== 'Widget' || password) return undefined;
  if (fieldType === 'Btn') return tickOf(annotation);
  const values = [fieldValue ?? []].flat().filter((value) => typeof value === 'string');
  const shown = (value: string) =>
    annotation.options?.find(({ exportValue }) => exportValue === value)?.displayValue ?? value;
  return { text: fieldType === 'Ch' ? values.map(shown).join(', ') : values.join(' '), kind: 'field' };
}

function tickOf({ checkBox, radioButton, fieldValue, exportValue, buttonValue }: PdfAnnotation) {
  const value = typeof fieldValue === 'string' ? fieldValue : 'Off';
  if (radioButton)
    return { text: value !== 'Off' && value === buttonValue ? 'yes' : 'no', kind: 'tick' as const };
  if (!checkBox) return undefined;
  const isOn = value !== 'Off' && (!exportValue || value === exportValue);
  return { text: isOn ? 'yes' : 'no', kind: 'tick' as const };
}
