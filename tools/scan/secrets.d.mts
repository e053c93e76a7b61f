/** Returns the credentials in a text: the reason, and the line from 1. */
export function secretsOf(text: string): { reason: string; line: number }[];
