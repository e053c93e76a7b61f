import { invalidField } from '#platform/contracts';
import { TimedWorker } from '#engine/models';
import { builtFile } from '#platform/foundation';
import type { TextForm } from './form-test.js';

/** A job of the thread: check a text against the form, or, without a text, check that the form is supported. */
export interface FormJob {
  form: TextForm;
  text?: string;
}

/** Timeout of one check in milliseconds. */
const maxCheckMs = 5000;

/** Checks the forms of texts in its own thread, which is terminated where a form makes the check too slow. */
export class FormChecker {
  private readonly worker: TimedWorker<FormJob, string | undefined>;

  constructor(private readonly limitMs = maxCheckMs) {
    this.worker = new TimedWorker(() => builtFile('form-check.worker'), limitMs);
  }

  /** Errors: invalid_request where the form cannot be checked. */
  async prepare(form: TextForm): Promise<void> {
    await this.run({ form });
  }

  /** The problem of a text; undefined where the text has the form. Errors: the errors of {@link prepare}. */
  wrongWith(form: TextForm, text: string): Promise<string | undefined> {
    return this.run({ form, text });
  }

  close(): Promise<void> {
    return this.worker.close();
  }

  private run(job: FormJob): Promise<string | undefined> {
    const param = job.form.at ?? 'constraint';
    const tooLong = () => invalidField(param, `It takes longer than ${this.limitMs} ms to check.`);
    return this.worker.run(job, tooLong);
  }
}
