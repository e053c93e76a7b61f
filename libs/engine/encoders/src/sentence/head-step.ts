/** Activation functions of a Dense module, by their class names in PyTorch. */
export const activationNames = ['Identity', 'Tanh', 'GELU', 'ReLU', 'Sigmoid', 'SiLU'] as const;
export type ActivationName = (typeof activationNames)[number];

/** A module after the pooling. `directory` holds its weights. */
export type HeadStep =
  | {
      readonly kind: 'dense';
      readonly directory: string;
      readonly inputs: number;
      readonly outputs: number;
      readonly activation: ActivationName;
      readonly isResidual: boolean;
    }
  | { readonly kind: 'layer-norm'; readonly directory: string; readonly width: number }
  | { readonly kind: 'normalize' };
