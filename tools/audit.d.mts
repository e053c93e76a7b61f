/** Result of an audit: the report as JSON, or the text that npm printed instead. */
export function judge(output: string): { code: number; text: string };
