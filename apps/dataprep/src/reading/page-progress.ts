/** Pages of a document that have been read, of all. */
export interface PageProgress {
  completed: number;
  total: number;
}

let listener: (progress: PageProgress) => void = () => {};

/** Sets the function that gets the progress of the documents of this process. */
export function onPageProgress(next: (progress: PageProgress) => void): void {
  listener = next;
}

/** Reports the progress of the document that is read. */
export function reportPages(completed: number, total: number): void {
  listener({ completed, total });
}
