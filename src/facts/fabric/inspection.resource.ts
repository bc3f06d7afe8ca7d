import { z } from 'zod'
import { described } from '../../kernel/declaration/words.ts'

/** Enough characters for any useful pattern or name. */
const LONGEST = 1024
/** More than the number of existing values. */
const MOST_VALUES = 64

/** POST /inspections of the fabric API. */
export const InspectionBody = described(
  z.object({
    appRegex: z.string().max(LONGEST),
    requestedValues: z.array(z.string().max(LONGEST)).max(MOST_VALUES).default([]),
  }),
  {
    appRegex: 'A pattern of RE2 that ids or names of routers fit, or the id of the controller.',
    requestedValues:
      'Names of values, for example `links`, `router-circuits`, `circuit:<id>`, `config`. A router leaves out names that it does not know.',
  },
)
