/** Turns bytes into text, piece by piece. */
export interface ByteDecoder {
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}

/**
 * The upper halves of code pages of DOS, which TextDecoder does not know, and of Windows-1252, which it reads as Latin-1
 * in Node 20: quotation marks become control characters.
 */
const pages: Readonly<Record<string, string>> = {
  'windows-1252':
    '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ' +
    Array.from({ length: 96 }, (_unused, at) => String.fromCharCode(160 + at)).join(''),
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
    '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐' +
    '└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  cp865:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
};

/** Other names of the code pages of DOS. */
const dosName = /^(?:ibm|cp|dos|oem|csibm)-?_?(\d{3})$/i;

/** The usual name of an encoding; undefined if it is not known. */
export function encodingName(label: string): string | undefined {
  const dos = `cp${dosName.exec(label.trim())?.[1] ?? ''}`;
  if (pages[dos] !== undefined) return dos;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return undefined;
  }
}

/** A decoder that replaces what it cannot read by U+FFFD. Throws a RangeError for an unknown name. */
export function decoderOf(name: string): ByteDecoder {
  const page = pages[name];
  if (page === undefined) return new TextDecoder(name);
  return {
    decode: (bytes = new Uint8Array()) => {
      let text = '';
      for (const byte of bytes) text += byte < 128 ? String.fromCharCode(byte) : page[byte - 128];
      return text;
    },
  };
}
