/** Returns the findings in a source text: the rule, and the line from 1. */
export function dangersOf(text: string): { reason: string; line: number }[];
