import { z } from 'zod'
import { Id } from '../declaration/fields.ts'
import { described } from '../declaration/words.ts'

/** Services and the configs that an identity is to see for them. */
export const ServiceConfigPairs = z.array(
  described(z.object({ serviceId: Id, configId: Id }), {
    serviceId: 'The id of the service.',
    configId: 'The id of the config.',
  }),
)
