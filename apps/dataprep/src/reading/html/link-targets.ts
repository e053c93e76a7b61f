/** Links up to this number are always kept with their targets; more only in a text with this many words for each. */
const maxLinks = 8;
const wordsPerLink = 12;
/** A longer target is for programs. */
const maxTargetCharacters = 200;

const webAddress = /^https?:\/\//i;
const contact = /^(?:mailto|tel):/i;

/** Which targets of links a text keeps: mail addresses and numbers always, web addresses unless links fill the text. */
export class LinkTargets {
  readonly #keepsAddresses: boolean;

  /** `targets` are those of the whole document; `text` is its text. */
  constructor(targets: readonly string[], text: string) {
    const addresses = new Set(targets.filter((target) => webAddress.test(target))).size;
    this.#keepsAddresses = addresses <= maxLinks || addresses <= text.split(/\s+/).length / wordsPerLink;
  }

  /** The text of a link with its target in parentheses, unless the text contains it. */
  shown(text: string, target: string | undefined): string {
    const address = this.#addressOf(target?.trim() ?? '');
    if (address === '') return text;
    const bare = address.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/$/, '');
    if (text.toLowerCase().includes(bare.toLowerCase())) return text;
    return text.trim() === '' ? text : `${text.trimEnd()} (${address})${/\s$/.exec(text)?.[0] ?? ''}`;
  }

  #addressOf(target: string): string {
    if (target.length > maxTargetCharacters) return '';
    if (contact.test(target)) return decoded(target.replace(contact, '').replace(/\?[^]*$/, ''));
    return this.#keepsAddresses && webAddress.test(target) ? target : '';
  }
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
