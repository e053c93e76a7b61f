import { z } from 'zod';
import { purposeFields } from './choose-model.js';
import { lengthFields } from './engine-kind.js';

/** An engine's list of models. */
export const modelsSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      created: z.int().nullish().catch(null),
      owned_by: z.string().nullish().catch(null),
      ...lengthFields,
      ...purposeFields,
    }),
  ),
});
