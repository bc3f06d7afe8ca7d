import { z } from 'zod'

/** A count in a query; the engine knows its bounds. */
export const Count = z
  .string()
  .regex(/^\d{1,9}$/)
  .meta({ type: 'integer' })
  .transform(Number)
  .optional()
