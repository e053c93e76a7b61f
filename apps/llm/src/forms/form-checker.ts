import { invalidField } from '#contracts';
import { TimedWorker } from '#models';
import { builtFile } from '#paths';
import type { TextForm } from './form-test.js';

/** What the thread is asked: whether the text has the form, or, without a text, whether the form can be checked. */
export interface FormJob {
  form: TextForm;
  text?: string;
}

/** Milliseconds that one check may take. */
const longestCheck = 5000;

/** Checks the forms of texts in a thread of its own, which ends where a caller's form makes that too slow. */
export class FormChecker {
  private readonly worker: TimedWorker<FormJob, string | undefined>;

  constructor(private readonly limitMs = longestCheck) {
    this.worker = new TimedWorker(() => builtFile('form-check.worker'), limitMs);
  }

  /** Errors: invalid_request where the form cannot be checked. */
  async prepare(form: TextForm): Promise<void> {
    await this.run({ form });
  }

  /** What is wrong with a text; undefined where it has the form. Errors: those of {@link prepare}. */
  wrongWith(form: TextForm, text: string): Promise<string | undefined> {
    return this.run({ form, text });
  }

  close(): Promise<void> {
    return this.worker.close();
  }

  private run(job: FormJob): Promise<string | undefined> {
    const tooLong = () => invalidField('constraint', `It takes longer than ${this.limitMs} ms to check.`);
    return this.worker.run(job, tooLong);
  }
}
