import {
  readDecoderShape,
  readEncoderShape,
  UnsupportedModelError,
  readSpeechShape,
  readWhisperShape,
} from '#onnx-compiler';

/** Whether the decoder of a folder can be compiled, as far as its config.json tells. */
export function canCompileDecoder(directory: string): Promise<boolean> {
  return isSupported(readDecoderShape(directory));
}

/** Whether the encoder of a folder can be compiled, as far as its config.json tells. */
export function canCompileEncoder(directory: string): Promise<boolean> {
  return isSupported(readEncoderShape(directory));
}

/** Whether the speech model of a folder can be compiled, as far as its config.json tells. */
export async function canCompileSpeech(directory: string): Promise<boolean> {
  return (await isSupported(readWhisperShape(directory))) || isSupported(readSpeechShape(directory));
}

async function isSupported(shape: Promise<unknown>): Promise<boolean> {
  try {
    await shape;
    return true;
  } catch (error) {
    if (error instanceof UnsupportedModelError) return false;
    throw error;
  }
}
