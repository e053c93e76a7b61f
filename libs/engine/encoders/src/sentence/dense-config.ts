import { ModelLoadError, readJson } from '#engine/models';
import { z } from 'zod';
import { activationNames, type HeadStep } from './head-step.js';

const denseSchema = z.strictObject({
  in_features: z.int().positive(),
  out_features: z.int().positive(),
  bias: z.boolean().default(true),
  activation_function: z.string().default('torch.nn.modules.activation.Tanh'),
  module_input_name: z.literal('sentence_embedding').default('sentence_embedding'),
  // The last layer of a cross-encoder writes the scores.
  module_output_name: z.enum(['sentence_embedding', 'scores']).nullish(),
  use_residual: z.boolean().default(false),
});

/** Reads the config.json of a Dense module. Errors: ModelLoadError that names the field. */
export async function readDenseStep(directory: string): Promise<HeadStep> {
  const config = await readJson(directory, 'config.json', denseSchema);
  const name = /^torch\.nn\.(?:.*\.)?(\w+)$/.exec(config.activation_function)?.[1];
  const activation = activationNames.find((known) => known === name);
  if (!activation)
    throw new ModelLoadError(
      `${directory}/config.json has the activation_function "${config.activation_function}"; use one of ${activationNames.join(', ')} of torch.nn.`,
    );
  return {
    kind: 'dense',
    directory,
    inputs: config.in_features,
    outputs: config.out_features,
    activation,
    isResidual: config.use_residual,
  };
}
