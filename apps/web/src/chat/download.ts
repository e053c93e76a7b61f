/** Hands a text to the user as a file. */
export function download(filename: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/markdown' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = filename.replaceAll(/[/\\:*?"<>|\p{Cc}]/gu, '-');
  link.click();
  URL.revokeObjectURL(url);
}
