/* global AudioWorkletProcessor, registerProcessor */

/** Samples that leave together: a tenth of a second at 24 kHz. */
const together = 2_400;

/** Hands the microphone's sound on as whole numbers of 16 bits. It runs in the thread of the sound. */
class Recorder extends AudioWorkletProcessor {
  #samples = new Int16Array(together);
  #count = 0;

  process([[channel] = []]) {
    for (const sample of channel ?? []) {
      this.#samples[this.#count] = Math.max(-1, Math.min(1, sample)) * 32_767;
      this.#count += 1;
      if (this.#count === together) {
        this.port.postMessage(this.#samples, [this.#samples.buffer]);
        this.#samples = new Int16Array(together);
        this.#count = 0;
      }
    }
    return true;
  }
}

registerProcessor('recorder', Recorder);
