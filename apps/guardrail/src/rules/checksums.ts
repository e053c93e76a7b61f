/** Tests that tell a real number from one that only looks like it; they get the match as it stands in the text. */
export const checksums = { luhn: passesLuhn } as const satisfies Record<string, (match: string) => boolean>;

/** The check digit of payment cards (ISO/IEC 7812-1, annex B). */
function passesLuhn(match: string): boolean {
  const digits = Array.from(match.replaceAll(/\D/g, ''), Number).toReversed();
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits.length > 1 && sum > 0 && sum % 10 === 0;
}
